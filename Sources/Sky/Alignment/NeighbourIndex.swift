/// All things near a place: a table of square cells, of which those around a place are looked through.
struct NeighbourIndex {
    private struct Cell: Hashable {
        var column: Int
        var row: Int
    }

    private let cell: Double
    private var cells: [Cell: [Int]] = [:]

    /// - Parameter cell: the farthest that anybody will ask for.
    init(cell: Double) {
        self.cell = cell > 0 ? cell : 1
    }

    /// Puts a thing at a place. What has no finite place is nowhere.
    mutating func add(_ thing: Int, _ place: (x: Double, y: Double)) {
        guard let key = key(place) else { return }
        cells[key, default: []].append(thing)
    }

    /// All things within `cell` of a place, and some that are a little farther, in the order in which they were put.
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
        // The bound keeps the conversion from trapping, and is false for NaN.
        guard abs(place.x / cell) < 1e12, abs(place.y / cell) < 1e12 else { return nil }
        return Cell(column: Int((place.x / cell).rounded(.down)), row: Int((place.y / cell).rounded(.down)))
    }
}
