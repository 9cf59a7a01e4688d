/// Finds the good meshes that are nearest to a bad one.
///
/// A mosaic that was rotated has a border of bad meshes that is hundreds wide. A search through all meshes around each of them
/// takes the square of that. Here each column knows its nearest good meshes above and below every row, so that a search goes
/// along one line only.
struct NearestMeshes {
    private let columns: Int
    private let rows: Int
    /// The row of the good mesh in the same column at or above, and at or below, each mesh; -1 for none.
    private var above: [Int32]
    private var below: [Int32]

    init(columns: Int, rows: Int, isGood: (Int) -> Bool) {
        self.columns = columns
        self.rows = rows
        above = [Int32](repeating: -1, count: columns * rows)
        below = above
        for place in 0..<columns * rows {
            above[place] = isGood(place) ? Int32(place / columns) : place >= columns ? above[place - columns] : -1
        }
        for place in (0..<columns * rows).reversed() {
            below[place] =
                isGood(place)
                ? Int32(place / columns) : place + columns < columns * rows ? below[place + columns] : -1
        }
    }

    /// The good meshes at the smallest distance, row by row. The order matters, because sums in single precision depend on it.
    func nearest(to place: Int) -> [Int] {
        let (x0, y0) = (place % columns, place / columns)
        var best = Int.max
        var found: [Int] = []
        func look(at x: Int) {
            guard (0..<columns).contains(x) else { return }
            let (up, down) = (Int(above[y0 * columns + x]), Int(below[y0 * columns + x]))
            for y in up == down ? [up] : [up, down] where y >= 0 {
                let distance = (x - x0) * (x - x0) + (y - y0) * (y - y0)
                if distance < best {
                    best = distance
                    found = []
                }
                if distance == best { found.append(y * columns + x) }
            }
        }
        var reach = 0
        while reach * reach <= best, reach < columns {
            look(at: x0 - reach)
            if reach > 0 { look(at: x0 + reach) }
            reach += 1
        }
        return found.sorted()
    }
}
