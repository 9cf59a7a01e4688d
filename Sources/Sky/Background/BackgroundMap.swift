import Base

/// The background of a whole image: a level at each mesh's centre, filtered, with a bicubic spline between them.
///
/// The numbers are those of SEP's `sep_background` and `sep_bkg_subarray` on the whole image, operation by operation, in single
/// precision as there. So a source has the same pixels in a sector as in the whole image.
public struct BackgroundMap: Hashable, Sendable {
    /// Columns of the image.
    public let width: Int
    /// Rows of the image.
    public let height: Int
    /// Side of a mesh in pixels.
    public let meshSize: Int
    /// Median level of the meshes, in units of the image.
    public let globalLevel: Float
    /// Median noise (1 sigma) of the meshes. Detection thresholds are multiples of it.
    public let globalRMS: Float
    /// The factor for the sigmas of an image of weights; 1 if they are in units of the image.
    public let noiseScale: Float

    /// Filtered levels at the nodes, row by row.
    let levels: [Float]
    /// The levels' second derivatives along y.
    let derivatives: [Float]

    /// About how much memory the map takes.
    package var byteCount: Int { (levels.count + derivatives.count) * MemoryLayout<Float>.size }

    package var columns: Int { (width - 1) / meshSize + 1 }
    package var rows: Int { (height - 1) / meshSize + 1 }

    /// Stitches the tiles of all sectors of an image, in any order, and filters the result.
    ///
    /// - Throws: `.failed` if tiles are missing, overlap or belong to another image.
    init(
        tiles: [BackgroundTile], width: Int, height: Int, configuration: ScanConfiguration
    ) throws(SkyError) {
        try configuration.validate()
        guard width > 0, height > 0 else { throw SkyError(.badInput, "an image without pixels") }
        var mesh = BackgroundMesh(
            columns: (width - 1) / configuration.meshSize + 1, rows: (height - 1) / configuration.meshSize + 1)
        try mesh.stitch(tiles)
        mesh.replaceBadMeshes()
        mesh.filter(side: configuration.meshFilterSize)
        self.init(
            width: width, height: height, meshSize: configuration.meshSize, levels: mesh.levels,
            globalLevel: BackgroundMesh.median(mesh.levels), globalRMS: mesh.globalRMS,
            noiseScale: Self.noiseScale(tiles))
    }

    /// The noise of the whole image as a map of its own, filtered as the levels are (SExtractor's `BACKGROUND_RMS`).
    ///
    /// - Throws: The same errors as for the map of the levels.
    package static func noise(
        tiles: [BackgroundTile], width: Int, height: Int, configuration: ScanConfiguration
    ) throws(SkyError) -> BackgroundMap {
        let map = try BackgroundMap(tiles: tiles, width: width, height: height, configuration: configuration)
        var mesh = BackgroundMesh(columns: map.columns, rows: map.rows)
        try mesh.stitch(tiles)
        mesh.replaceBadMeshes()
        mesh.filter(side: configuration.meshFilterSize)
        return BackgroundMap(
            width: width, height: height, meshSize: configuration.meshSize, levels: mesh.sigmas,
            globalLevel: map.globalRMS, globalRMS: map.globalRMS, noiseScale: 1)
    }

    /// The median ratio of the measured noise to that of the weights, as in SExtractor.
    private static func noiseScale(_ tiles: [BackgroundTile]) -> Float {
        // The types are spelt out: the compiler took 1.6 s to find them.
        let ratios = tiles.flatMap { (tile: BackgroundTile) -> [Float] in
            zip(tile.sigmas.values, tile.variances?.values ?? []).map { (sigma: Float, variance: Float) -> Float in
                sigma / variance.squareRoot()
            }
        }.filter { $0 > 0 && $0.isFinite }
        return ratios.isEmpty ? 1 : BackgroundMesh.median(ratios)
    }

    private init(
        width: Int, height: Int, meshSize: Int, levels: [Float], globalLevel: Float, globalRMS: Float,
        noiseScale: Float
    ) {
        self.width = width
        self.height = height
        self.meshSize = meshSize
        self.levels = levels
        self.globalLevel = globalLevel
        self.globalRMS = globalRMS
        self.noiseScale = noiseScale
        let columns = (width - 1) / meshSize + 1
        let rows = levels.count / columns
        var derivatives = [Float](repeating: 0, count: levels.count)
        let spline = NaturalSpline(nodes: rows)
        // Eight columns at a time. Beside the last ones lie zeros.
        for first in stride(from: 0, to: columns, by: SplineLines.limit) {
            let count = min(SplineLines.limit, columns - first)
            var nodes = [SIMD8<Float>](repeating: .zero, count: rows)
            for row in 0..<rows {
                for lane in 0..<count { nodes[row][lane] = levels[row * columns + first + lane] }
            }
            for (row, line) in spline.secondDerivatives(nodes).enumerated() {
                for lane in 0..<count { derivatives[row * columns + first + lane] = line[lane] }
            }
        }
        self.derivatives = derivatives
    }

    /// Subtracts the background from the pixels of `rect`, which lie row by row in `pixels`. NaN stays NaN.
    ///
    /// A rectangle that is not inside the image, or pixels whose number does not fit the rectangle, are left as they are.
    public func subtract(from pixels: inout [Float], rect: PixelRect) {
        guard rect.isInside(width: width, height: height), pixels.count == rect.width * rect.height else { return }
        let runs = SplineRuns(columnPlaces(rect.x..<rect.right))
        let across = NaturalSpline(nodes: columns)
        pixels.withUnsafeMutableBufferPointer { pixels in
            var y = rect.y
            while y < rect.bottom {
                let spline = splineLines(from: y, across)
                for lane in 0..<min(spline.count, rect.bottom - y) {
                    let start = (y + lane - rect.y) * rect.width
                    runs.subtract(
                        spline, lane: lane,
                        from: UnsafeMutableBufferPointer(rebasing: pixels[start..<start + rect.width])
                    )
                }
                y += spline.count
            }
        }
    }

    /// The background at single pixels of `rect`, counted from its corner.
    ///
    /// - Returns: As many levels as there are places; 0 for a place outside.
    func levels(at places: [(x: Int, y: Int)], in rect: PixelRect) -> [Float] {
        guard rect.isInside(width: width, height: height) else { return places.map { _ in 0 } }
        let columns = columnPlaces(rect.x..<rect.right)
        let across = NaturalSpline(nodes: self.columns)
        var splines: [Int: (lines: SplineLines, lane: Int)] = [:]
        return places.map { place in
            guard (0..<rect.width).contains(place.x), (0..<rect.height).contains(place.y) else { return 0 }
            let y = rect.y + place.y
            if splines[y] == nil {
                let lines = splineLines(from: y, across)
                for lane in 0..<lines.count { splines[y + lane] = (lines, lane) }
            }
            guard let spline = splines[y] else { return 0 }
            return spline.lines.level(at: columns[place.x], lane: spline.lane)
        }
    }

    /// The splines along the lines of pixels from `y` on.
    ///
    /// - Parameter across: A spline with a node for each column of meshes.
    private func splineLines(from y: Int, _ across: NaturalSpline) -> SplineLines {
        guard rows > 1 else {
            return SplineLines(
                nodes: levels.map { SIMD8(repeating: $0) }, slopes: derivatives.map { SIMD8(repeating: $0) })
        }
        let row = place(ofLine: y).row
        var offsets = SIMD8<Float>.zero
        var count = 0
        while count < SplineLines.limit, place(ofLine: y + count).row == row {
            offsets[count] = place(ofLine: y + count).offset
            count += 1
        }
        let rests = 1 - offsets
        let offsetCubes = offsets * offsets * offsets - offsets
        let restCubes = rests * rests * rests - rests
        let low = row * columns
        let high = low + columns
        var nodes = [SIMD8<Float>](repeating: .zero, count: columns)
        for column in nodes.indices {
            var node: SIMD8<Float> = rests * levels[low + column] + offsets * levels[high + column]
            node += restCubes * derivatives[low + column]
            nodes[column] = node + offsetCubes * derivatives[high + column]
        }
        return SplineLines(nodes: nodes, slopes: across.secondDerivatives(nodes), count: count)
    }

    /// The row of nodes above a line of pixels, and the distance from there in meshes.
    private func place(ofLine y: Int) -> (row: Int, offset: Float) {
        var dy = Float(Double(Float(y) / Float(meshSize)) - 0.5)
        var row = Int(dy)
        dy -= Float(row)
        // Int() rounds towards zero as C does, so the first half mesh gets row 0 and a negative dy without further code.
        if row >= rows - 1 {
            row = rows - 2
            dy += 1
        }
        return (row, dy)
    }

    /// For each column of pixels, the node to its left and the distance from there, in meshes.
    ///
    /// SEP adds up the distance along the line, rounds at each step, and starts anew at each node. This code does the same from
    /// the image's first column on; otherwise the last bits would depend on the sector.
    private func columnPlaces(_ range: Range<Int>) -> [(node: Int, offset: Float)] {
        let step = Float(1.0 / Double(meshSize))
        let atNode = Float((meshSize + 1) % 2) * step / 2
        var offset = (step - 1) / 2
        var node = 0
        var mesh = 0
        var inMesh = 0
        var places: [(node: Int, offset: Float)] = []
        places.reserveCapacity(range.count)
        for x in 0..<range.upperBound {
            if inMesh == meshSize / 2, mesh > 0, mesh < columns - 1 {
                node += 1
                offset = atNode
            }
            if x >= range.lowerBound { places.append((node, offset)) }
            if inMesh == meshSize {
                mesh += 1
                inMesh = 0
            }
            inMesh += 1
            offset += step
        }
        return places
    }
}

extension BackgroundMap: Codable {
    private enum CodingKeys: String, CodingKey {
        case width, height, meshSize, globalLevel, globalRMS, levels, noiseScale
    }

    /// Decodes a map and refuses one that fits no image, so that later code need not check again.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let width = try container.decode(Int.self, forKey: .width)
        let height = try container.decode(Int.self, forKey: .height)
        let meshSize = try container.decode(Int.self, forKey: .meshSize)
        let levels = try container.decode(PackedFloats.self, forKey: .levels).values
        let level = try container.decode(Float.self, forKey: .globalLevel)
        let rms = try container.decode(Float.self, forKey: .globalRMS)
        let sizes = 1...Int(Int32.max)
        let scale = try container.decodeIfPresent(Float.self, forKey: .noiseScale) ?? 1
        guard
            scale.isFinite, scale > 0, sizes.contains(width), sizes.contains(height), sizes.contains(meshSize),
            levels.count == ((width - 1) / meshSize + 1) * ((height - 1) / meshSize + 1),
            levels.allSatisfy(\.isFinite), level.isFinite, rms.isFinite, rms > 0
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .levels, in: container, debugDescription: "a background map that fits no image")
        }
        self.init(
            width: width, height: height, meshSize: meshSize, levels: levels, globalLevel: level, globalRMS: rms,
            noiseScale: scale)
    }

    /// Encodes the values from which the rest is computed.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(width, forKey: .width)
        try container.encode(height, forKey: .height)
        try container.encode(meshSize, forKey: .meshSize)
        try container.encode(globalLevel, forKey: .globalLevel)
        try container.encode(globalRMS, forKey: .globalRMS)
        if noiseScale != 1 { try container.encode(noiseScale, forKey: .noiseScale) }
        try container.encode(PackedFloats(levels), forKey: .levels)
    }
}
