/// The meshes of a whole image on their way from tiles to a map.
struct BackgroundMesh {
    let columns: Int
    let rows: Int
    /// NaN where a mesh is bad, until `replaceBadMeshes`.
    private(set) var levels: [Float]
    private(set) var sigmas: [Float]

    init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        levels = [Float](repeating: .nan, count: columns * rows)
        sigmas = levels
    }

    /// Puts every tile in its place; together they must cover the image once.
    mutating func stitch(_ tiles: [BackgroundTile]) throws(SkyError) {
        var seen = [Bool](repeating: false, count: levels.count)
        for tile in tiles {
            guard
                tile.column >= 0, tile.row >= 0, tile.columns > 0, tile.rows > 0, tile.column < columns,
                tile.row < rows, tile.columns <= columns - tile.column, tile.rows <= rows - tile.row,
                tile.levels.count == tile.columns * tile.rows, tile.sigmas.count == tile.levels.count
            else { throw SkyError(.failed, "the background of sector \(tile.sector) does not fit the image") }
            let levels = tile.levels.values
            let sigmas = tile.sigmas.values
            for index in levels.indices {
                let place = (tile.row + index / tile.columns) * columns + tile.column + index % tile.columns
                guard !seen[place] else {
                    throw SkyError(.failed, "the background of sector \(tile.sector) came twice")
                }
                seen[place] = true
                let isGood = levels[index].isFinite && sigmas[index].isFinite
                self.levels[place] = isGood ? levels[index] : .nan
                self.sigmas[place] = isGood ? sigmas[index] : .nan
            }
        }
        let missing = seen.count { !$0 }
        guard missing == 0 else {
            throw SkyError(.failed, "the background is incomplete: \(missing) of \(seen.count) meshes are missing")
        }
    }

    /// Gives each bad mesh the mean of the good meshes nearest to it; 0 with noise 1 where none is good.
    mutating func replaceBadMeshes() {
        let bad = levels.indices.filter { levels[$0].isNaN }
        guard !bad.isEmpty else { return }
        let (goodLevels, goodSigmas) = (levels, sigmas)
        guard bad.count < levels.count else {
            levels = levels.map { _ in 0 }
            sigmas = sigmas.map { _ in 1 }
            return
        }
        for place in bad {
            let nearest = nearestGood(to: place, in: goodLevels)
            var (level, sigma): (Float, Float) = (0, 0)
            for other in nearest {
                level += goodLevels[other]
                sigma += goodSigmas[other]
            }
            levels[place] = level / Float(nearest.count)
            sigmas[place] = sigma / Float(nearest.count)
        }
    }

    /// The good meshes at the smallest distance, row by row: sums in single precision depend on the order.
    ///
    /// Looks at growing squares, not at every mesh: a large frame that is half blank would take minutes otherwise.
    private func nearestGood(to place: Int, in levels: [Float]) -> [Int] {
        let (x0, y0) = (place % columns, place / columns)
        var best = Int.max
        var found: [Int] = []
        var radius = 1
        while radius * radius <= best, radius <= max(columns, rows) {
            for y in max(0, y0 - radius)...min(rows - 1, y0 + radius) {
                let isEdge = abs(y - y0) == radius
                let step = isEdge ? 1 : 2 * radius
                for x in stride(from: x0 - radius, through: x0 + radius, by: step)
                where x >= 0 && x < columns && !levels[y * columns + x].isNaN {
                    let distance = (x - x0) * (x - x0) + (y - y0) * (y - y0)
                    if distance < best {
                        best = distance
                        found = []
                    }
                    if distance == best { found.append(y * columns + x) }
                }
            }
            radius += 1
        }
        return found.sorted()
    }

    /// A median over `side` x `side` meshes, fewer at the edges so that the window stays centred.
    mutating func filter(side: Int) {
        let (oldLevels, oldSigmas) = (levels, sigmas)
        let half = side / 2
        for y in 0..<rows {
            let tall = min(half, y, rows - 1 - y)
            for x in 0..<columns {
                let wide = min(half, x, columns - 1 - x)
                var window: [Int] = []
                for line in (y - tall)...(y + tall) {
                    for column in (x - wide)...(x + wide) { window.append(line * columns + column) }
                }
                levels[y * columns + x] = Self.median(window.map { oldLevels[$0] })
                sigmas[y * columns + x] = Self.median(window.map { oldSigmas[$0] })
            }
        }
    }

    /// The median noise; where that is zero (mostly blank frames), the median of the meshes that have some.
    var globalRMS: Float {
        let median = Self.median(sigmas)
        guard !(median > 0) else { return median }
        let tail = sigmas.sorted().drop { $0 <= 0 }
        return tail.isEmpty ? 1 : Self.median(Array(tail))
    }

    /// The middle value, or the mean of the two.
    static func median(_ values: [Float]) -> Float {
        let sorted = values.sorted()
        guard sorted.count > 1 else { return sorted.first ?? 0 }
        let middle = sorted.count / 2
        if sorted.count % 2 == 1 { return sorted[middle] }
        return Float(Double(sorted[middle - 1] + sorted[middle]) / 2)
    }
}
