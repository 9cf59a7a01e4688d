import Base

/// How an image is cut into sectors: a function of the image's size and the configuration alone, so that the same
/// scan has the same sectors regardless of the machines that take part.
public struct SectorGrid: Hashable, Sendable {
    /// Columns of the image.
    public let width: Int
    /// Rows of the image.
    public let height: Int
    /// Columns of a core; cores begin at multiples of it and are clipped at the image's far edges.
    public let coreWidth: Int
    /// Rows of a core, likewise.
    public let coreHeight: Int
    /// The largest number of sectors of an image: 316 x 316 of them. Each is a task and several values in its coordinator's
    /// memory, and all are made in one step that must not keep other jobs waiting.
    public static let sectorLimit = 100_000

    /// The rim around a core that is read and not owned, in pixels.
    public let margin: Int

    /// The grid of an image.
    ///
    /// - Throws: `.badInput` if the configuration is not valid or an image of this size cannot be scanned.
    public init(info: ImageInfo, configuration: ScanConfiguration) throws(SkyError) {
        try configuration.validate()
        let (count, overflow) = info.width.multipliedReportingOverflow(by: info.height)
        guard info.width > 0, info.height > 0, !overflow, count < Int(Int32.max) else {
            throw SkyError(.badInput, "an image of \(info.width) x \(info.height) pixels cannot be scanned")
        }
        width = info.width
        height = info.height
        let side = configuration.sectorSize ?? max(info.width, info.height)
        let sectors = ((info.width - 1) / side + 1) * ((info.height - 1) / side + 1)
        guard sectors <= SectorGrid.sectorLimit else {
            throw SkyError(
                .badInput,
                "an image of \(info.width) x \(info.height) pixels has \(sectors) sectors of \(side) pixels; at most "
                    + "\(SectorGrid.sectorLimit) can be handled, so let sectors be larger")
        }
        coreWidth = min(configuration.sectorSize ?? info.width, info.width)
        coreHeight = min(configuration.sectorSize ?? info.height, info.height)
        margin = configuration.margin
    }

    /// Sectors in a row of the grid.
    public var columns: Int { (width - 1) / coreWidth + 1 }
    /// The number of rows of sectors.
    public var rows: Int { (height - 1) / coreHeight + 1 }

    /// All sectors, row by row from the image's first pixel.
    public var sectors: [Sector] {
        (0..<rows * columns).map(sector)
    }

    private func sector(_ index: Int) -> Sector {
        let x = index % columns * coreWidth
        let y = index / columns * coreHeight
        let core = PixelRect(x: x, y: y, width: min(coreWidth, width - x), height: min(coreHeight, height - y))
        return Sector(index: index, core: core, padded: core.grown(by: margin, width: width, height: height))
    }
}
