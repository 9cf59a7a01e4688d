import Base

/// The meshes of a whole image between the tiles and the map.
struct BackgroundMesh {
    let columns: Int
    let rows: Int
    /// The levels, NaN for a bad mesh until `replaceBadMeshes`.
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

    /// Gives each bad mesh the mean of the nearest good meshes. If no mesh is good, all get the level 0 and the noise 1.
    mutating func replaceBadMeshes() {
        let bad = levels.indices.filter { levels[$0].isNaN }
        guard !bad.isEmpty else { return }
        let (goodLevels, goodSigmas) = (levels, sigmas)
        guard bad.count < levels.count else {
            levels = levels.map { _ in 0 }
            sigmas = sigmas.map { _ in 1 }
            return
        }
        let good = NearestMeshes(columns: columns, rows: rows) { !goodLevels[$0].isNaN }
        for place in bad {
            let nearest = good.nearest(to: place)
            var (level, sigma): (Float, Float) = (0, 0)
            for other in nearest {
                level += goodLevels[other]
                sigma += goodSigmas[other]
            }
            levels[place] = level / Float(nearest.count)
            sigmas[place] = sigma / Float(nearest.count)
        }
    }

    /// Applies a median over `side` x `side` meshes, fewer at the edges so that the window stays centred.
    mutating func filter(side: Int) {
        let (oldLevels, oldSigmas) = (levels, sigmas)
        let half = side / 2
        var (levelWindow, sigmaWindow): ([Float], [Float]) = ([], [])
        for y in 0..<rows {
            let tall = min(half, y, rows - 1 - y)
            for x in 0..<columns {
                let wide = min(half, x, columns - 1 - x)
                levelWindow.removeAll(keepingCapacity: true)
                sigmaWindow.removeAll(keepingCapacity: true)
                for line in (y - tall)...(y + tall) {
                    let window = line * columns + x - wide...line * columns + x + wide
                    levelWindow += oldLevels[window]
                    sigmaWindow += oldSigmas[window]
                }
                levels[y * columns + x] = Self.middle(&levelWindow)
                sigmas[y * columns + x] = Self.middle(&sigmaWindow)
            }
        }
    }

    /// The median noise. If that is zero (in mostly blank frames), it is the median of the meshes that have noise.
    var globalRMS: Float {
        let median = Self.median(sigmas)
        guard !(median > 0) else { return median }
        let tail = sigmas.sorted().drop { $0 <= 0 }
        return tail.isEmpty ? 1 : Self.median(Array(tail))
    }

    /// The middle value, or the mean of the two middle values.
    static func median(_ values: [Float]) -> Float {
        var values = values
        return middle(&values)
    }

    /// The same, but it sorts the values in place.
    private static func middle(_ sorted: inout [Float]) -> Float {
        sorted.sort()
        guard sorted.count > 1 else { return sorted.first ?? 0 }
        let middle = sorted.count / 2
        if sorted.count % 2 == 1 { return sorted[middle] }
        return Float(Double(sorted[middle - 1] + sorted[middle]) / 2)
    }
}
