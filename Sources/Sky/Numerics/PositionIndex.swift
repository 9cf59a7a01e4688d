/// Finds the nearest of many positions, at most `cell` away, in a time that does not depend on their number.
///
/// It is a table of square cells. A position within `cell` of a point is in the point's own cell or in one of its eight
/// neighbours.
struct PositionIndex {
    private struct Cell: Hashable {
        var column: Int
        var row: Int
    }

    private let cell: Double
    private let positions: [(x: Double, y: Double)]
    private var cells: [Cell: [Int]] = [:]

    /// Positions that are not finite, or lie beyond any image, are left out, because no point is near them.
    init(_ positions: [(Double, Double)], cell: Double) {
        self.positions = positions.map { (x: $0.0, y: $0.1) }
        self.cell = cell
        cells.reserveCapacity(positions.count)
        for (index, position) in self.positions.enumerated() {
            guard let place = place(position.x, position.y) else { continue }
            cells[place, default: []].append(index)
        }
    }

    /// The nearest position within `cell` of (`x`, `y`) that `isFree` allows; of two at the same distance, the first.
    func nearest(x: Double, y: Double, where isFree: (Int) -> Bool) -> (index: Int, distance: Double)? {
        guard let home = place(x, y) else { return nil }
        var best: (index: Int, square: Double)?
        for row in home.row - 1...home.row + 1 {
            for column in home.column - 1...home.column + 1 {
                for index in cells[Cell(column: column, row: row)] ?? [] where isFree(index) {
                    let dx = positions[index].x - x
                    let dy = positions[index].y - y
                    let square = dx * dx + dy * dy
                    guard square <= cell * cell else { continue }
                    if let best, (best.square, best.index) <= (square, index) { continue }
                    best = (index, square)
                }
            }
        }
        return best.map { ($0.index, $0.square.squareRoot()) }
    }

    private func place(_ x: Double, _ y: Double) -> Cell? {
        // The test is also false for NaN. The limit keeps the conversion to Int from trapping.
        guard abs(x) < 1e12, abs(y) < 1e12 else { return nil }
        return Cell(column: Int((x / cell).rounded(.down)), row: Int((y / cell).rounded(.down)))
    }
}
