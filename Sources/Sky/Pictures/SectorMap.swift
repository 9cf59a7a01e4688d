import Base

/// The sectors of an image as a picture. The colour is that of the node that scanned a sector, and is darker the longer the
/// scan took. A sector is grey if it has an earlier result, and hatched if it has no result.
public struct SectorMap: Sendable {
    private var raster: Raster

    /// The number of pixels of the longest side.
    private static let side = 800
    private static let border = Raster.Ink(red: 0.1, green: 0.1, blue: 0.1, opacity: 1)
    private static let hatching = Raster.Ink(red: 0.8, green: 0.1, blue: 0.1, opacity: 1)
    private static let earlier = (red: Float(0.72), green: Float(0.72), blue: Float(0.72))

    /// Colours that differ for colour-blind readers as well (Okabe and Ito 2008, "Color Universal Design").
    private static let palette: [(red: Float, green: Float, blue: Float)] = [
        (0.34, 0.71, 0.91), (0.90, 0.62, 0), (0, 0.62, 0.45), (0.94, 0.89, 0.26), (0.80, 0.47, 0.65), (0.84, 0.37, 0),
        (0, 0.45, 0.70),
    ]

    /// Draws the map, y upwards.
    ///
    /// - Parameters:
    ///   - grid: The sectors; a sector without a run is hatched.
    ///   - runs: The runs, which tell which node scanned each sector.
    public init(_ grid: SectorGrid, runs: [SectorRun]) {
        let longest = max(grid.width, grid.height, 1)
        func length(_ pixels: Int) -> Int { max(1, pixels * Self.side / longest) }
        raster = Raster(width: length(grid.width), height: length(grid.height))
        let names = Self.nodes(of: runs)
        let slowest = runs.lazy.map(\.duration).max() ?? .zero
        var known: [Int: SectorRun] = [:]
        for run in runs { known[run.sector] = run }
        for sector in grid.sectors {
            let core = sector.core
            let columns = core.x * raster.width / grid.width..<(core.x + core.width) * raster.width / grid.width
            let rows = core.y * raster.height / grid.height..<(core.y + core.height) * raster.height / grid.height
            let run = known[sector.index]
            let colour = run.map { Self.colour(of: $0.node, among: names) }
            let share = run.map { slowest > .zero ? $0.duration / slowest : 0 } ?? 0
            // The colour goes from light to dark.
            let light = Float(1 - 0.6 * min(max(share, 0), 1))
            var ink = Raster.Ink(red: 1, green: 1, blue: 1, opacity: 1)
            if let colour {
                ink = Raster.Ink(
                    red: colour.red * light, green: colour.green * light, blue: colour.blue * light, opacity: 1)
            }
            for row in rows {
                let y = raster.height - 1 - row
                let isBorder = row == rows.upperBound - 1
                raster.fill(isBorder ? Self.border : ink, columns, y: y)
                guard !isBorder else { continue }
                if colour == nil {
                    for column in columns where (column + row) % 12 < 3 {
                        raster.fill(Self.hatching, column..<column + 1, y: y)
                    }
                }
                raster.fill(Self.border, max(columns.upperBound - 1, columns.lowerBound)..<columns.upperBound, y: y)
            }
        }
    }

    /// The nodes that took part, in the order of their names, which is the order of their colours.
    package static func nodes(of runs: [SectorRun]) -> [String] {
        Set(runs.map(\.node)).filter { !$0.isEmpty }.sorted()
    }

    private static func colour(of node: String, among names: [String]) -> (red: Float, green: Float, blue: Float) {
        guard let index = names.firstIndex(of: node) else { return earlier }
        return palette[index % palette.count]
    }

    /// A node's colour as style sheets write it; the colour of an earlier result for an empty name.
    static func css(_ node: String, among names: [String]) -> String {
        let colour = colour(of: node, among: names)
        func byte(_ value: Float) -> Int { Int((value * 255).rounded()) }
        return "rgb(\(byte(colour.red)), \(byte(colour.green)), \(byte(colour.blue)))"
    }

    /// The map as a PNG file.
    ///
    /// - Throws: `SkyError` if there is no memory for it.
    public func png() throws(SkyError) -> [UInt8] { try PNGWriter.encode(raster) }

    /// The colour of a pixel, for tests.
    package func bytes(x: Int, y: Int) -> [UInt8] { raster.colour(x: x, y: y) }

    package var width: Int { raster.width }
    package var height: Int { raster.height }
}
