import Base

/// The background of one sector's core: a level and a noise for each mesh, as measured, before any smoothing.
///
/// A mesh's value needs no pixel outside the mesh, and cores begin at multiples of the mesh. So the tiles of all sectors
/// together are exactly those of the whole image measured at once.
public struct BackgroundTile: Hashable, Codable, Sendable {
    /// Index of the sector whose core this is.
    public var sector: Int
    /// Place of the first mesh among the image's meshes, counted from 0 along x.
    public var column: Int
    /// The same along y.
    public var row: Int
    /// Meshes across.
    public var columns: Int
    /// Meshes down.
    public var rows: Int
    /// Background level of each mesh, row by row, in units of the image. NaN marks a bad mesh, which is one with fewer than
    /// half of its pixels usable.
    public var levels: PackedFloats
    /// Background noise (1 sigma) of each mesh; NaN for a bad mesh.
    public var sigmas: PackedFloats
    /// Pixels that stand out from the sky, as an estimate of the sector's work. `nil` in results of older versions.
    public var brightPixels: Int?
    /// Mean variance of each mesh by the weights; `nil` without weights.
    public var variances: PackedFloats?

    /// Measures the meshes of `core`.
    ///
    /// - Parameters:
    ///   - pixels: The core's pixels row by row, NaN for a missing one.
    ///   - sigmas: The noise of each pixel by the weights.
    ///   - sector: A sector whose core begins at a multiple of the mesh.
    /// - Throws: `SkyError` of kind `badInput` if the core is not aligned.
    init(
        pixels: [Float], sigmas weights: [Float]? = nil, sector: Sector, configuration: ScanConfiguration
    ) throws(SkyError) {
        let core = sector.core
        let mesh = configuration.meshSize
        guard core.x % mesh == 0, core.y % mesh == 0, pixels.count == core.width * core.height, !pixels.isEmpty else {
            throw SkyError(
                .badInput, "the sector at \(core.x), \(core.y) does not begin at a background mesh of \(mesh) pixels")
        }
        self.sector = sector.index
        column = core.x / mesh
        row = core.y / mesh
        columns = (core.width - 1) / mesh + 1
        rows = (core.height - 1) / mesh + 1
        let meshes = MeshStatistics(pixels, width: core.width, mesh: mesh)
        var (levels, sigmas) = (meshes.levels, meshes.sigmas)
        for index in levels.indices where !levels[index].isFinite || !sigmas[index].isFinite {
            levels[index] = .nan
            sigmas[index] = .nan
        }
        brightPixels = Self.brightPixels(
            pixels, width: core.width, mesh: mesh, limits: zip(levels, sigmas).map { $0 + 3 * $1 })
        variances = weights.map {
            PackedFloats(Self.meanSquares($0, of: pixels, width: core.width, mesh: mesh))
        }
        self.levels = PackedFloats(levels)
        self.sigmas = PackedFloats(sigmas)
    }

    /// The mean of the squares of `sigmas` over the pixels of each mesh; NaN for a mesh without pixels.
    private static func meanSquares(_ sigmas: [Float], of pixels: [Float], width: Int, mesh: Int) -> [Float] {
        let columns = (width - 1) / mesh + 1
        var sums = [Double](repeating: 0, count: columns * ((pixels.count / width - 1) / mesh + 1))
        var counts = sums
        for index in pixels.indices where !pixels[index].isNaN {
            let place = index / width / mesh * columns + index % width / mesh
            sums[place] += Double(sigmas[index]) * Double(sigmas[index])
            counts[place] += 1
        }
        return zip(sums, counts).map { Float($0 / $1) }
    }

    /// The number of pixels above the limit of their mesh.
    private static func brightPixels(_ pixels: [Float], width: Int, mesh: Int, limits: [Float]) -> Int {
        let columns = (width - 1) / mesh + 1
        var count = 0
        pixels.withUnsafeBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: width) {
                let line = start / width / mesh * columns
                for column in 0..<columns {
                    let limit = limits[line + column]
                    // The sum has no overflow check, so the processor can add several at a time.
                    for index in start + column * mesh..<start + min(width, (column + 1) * mesh) {
                        count &+= pixels[index] > limit ? 1 : 0
                    }
                }
            }
        }
        return count
    }
}

extension BackgroundTile {
    /// Whether this can be the background of a sector.
    package func isSound(of sector: Sector, mesh: Int) -> Bool {
        let core = sector.core
        return self.sector == sector.index && column == core.x / mesh && row == core.y / mesh
            && columns == (core.width - 1) / mesh + 1 && rows == (core.height - 1) / mesh + 1
            && levels.count == columns * rows && sigmas.count == levels.count
            && variances.map { $0.count == levels.count } ?? true
            && (0...core.area).contains(brightPixels ?? 0)
    }
}
