/// Finds all things near a place. It is a table of square cells, and a search goes through the cells around the place.
struct NeighbourIndex {
    private struct Cell: Hashable {
        var column: Int
        var row: Int
    }

    private let cell: Double
    private var cells: [Cell: [Int]] = [:]

    /// - Parameter cell: The largest distance of a search.
    init(cell: Double) {
        self.cell = cell > 0 ? cell : 1
    }

    /// Adds a thing at a place. A thing without a finite place is left out.
    mutating func add(_ thing: Int, _ place: (x: Double, y: Double)) {
        guard let key = key(place) else { return }
        cells[key, default: []].append(thing)
    }

    /// All things within `cell` of a place, and some that are a little farther, in the order in which they were added.
    func near(_ place: (x: Double, y: Double)) -> [Int] {
        guard let home = key(place) else { return [] }
        var found: [Int] = []
        for row in home.row - 1...home.row + 1 {
            for column in home.column - 1...home.column + 1 {
                if let things = cells[Cell(column: column, row: row)] { found += things }
            }
        }
        return found.sorted()
    }

    private func key(_ place: (x: Double, y: Double)) -> Cell? {
        // The limit keeps the conversion from trapping; the test is false for NaN.
        guard abs(place.x / cell) < 1e12, abs(place.y / cell) < 1e12 else { return nil }
        return Cell(column: Int((place.x / cell).rounded(.down)), row: Int((place.y / cell).rounded(.down)))
    }
}
