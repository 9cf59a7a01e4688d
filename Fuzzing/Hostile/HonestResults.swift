import NIOCore

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import Transport

/// What an honest node makes of a task.
enum HonestResults {
    static func packed(_ count: Int, _ value: Float) -> ValueTree {
        let bits = value.bitPattern
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: bits >> UInt32(8 * $0)) }
        return .object([.init(key: "bytes", value: .bytes(Array(repeatElement(bytes, count: count).joined())))])
    }

    /// - Parameters:
    ///   - info: the image's information, where it is known by then.
    ///   - richness: how much the result has in it.
    static func result(of work: ScanTask.Work, in info: ImageInfo? = nil, richness: UInt8) -> TaskResult {
        switch work.value {
        case let work as SkyWork: .sky(result(of: work, info, richness))
        case .compare(_, _, .difference(let order)) as CompareWork:
            .compared(.difference(difference(order)))
        case .compare(_, _, .cutouts(let changes, _)) as CompareWork:
            .compared(
                .cutouts(
                    changes.map { _ in
                        EpochCutouts(old: [137, 80], new: [137, 80], difference: [137, 80], side: 41)
                    }))
        case is PixelWork: .pixels(ByteBuffer(bytes: [1, 2, 3]))
        default: .simulated
        }
    }

    private static func result(of work: SkyWork, _ info: ImageInfo?, _ richness: UInt8) -> SkyResult {
        switch work {
        case .inspect(let image, let withContent): .inspected(header(of: image, withContent ?? false, richness))
        case .background(_, let sector, let configuration): .background(tile(sector, configuration.meshSize))
        case .seeing: .seeing(widths)
        case .extract(let image, let sector, _, let configuration):
            .extracted(scanned(sector, image, isCleaned: configuration.cleanParameter != nil, richness))
        case .join(_, let union, _, let configuration):
            .joined(
                JoinedObjects(
                    rect: union.rect,
                    found: found(-1, near: union.rect, isCleaned: configuration.cleanParameter != nil, count: 2)))
        case .preview(_, let side, let encodes):
            .preview(preview(of: info ?? HonestRequests.info, side, encodes: encodes ?? false))
        }
    }

    private static func header(of image: ImageReference, _ withContent: Bool, _ richness: UInt8) -> ImageInfo {
        var info = HonestRequests.info
        if richness & 1 == 1 { (info.width, info.height) = (Int(richness >> 1) + 1, 64) }
        if !withContent { info.content = nil }
        if richness & 2 == 2 { info.holder = nil }
        return info
    }

    private static func tile(_ sector: Sector, _ mesh: Int) -> BackgroundTile {
        let (columns, rows) = ((sector.core.width - 1) / mesh + 1, (sector.core.height - 1) / mesh + 1)
        let tree = ValueTree.object([
            .init(key: "sector", value: .integer(Int64(sector.index))),
            .init(key: "column", value: .integer(Int64(sector.core.x / mesh))),
            .init(key: "row", value: .integer(Int64(sector.core.y / mesh))),
            .init(key: "columns", value: .integer(Int64(columns))), .init(key: "rows", value: .integer(Int64(rows))),
            .init(key: "levels", value: packed(columns * rows, 100)),
            .init(key: "sigmas", value: packed(columns * rows, 3)), .init(key: "brightPixels", value: .integer(12)),
            .init(key: "variances", value: packed(columns * rows, 9)),
        ])
        return honest { try tree.decoded() }
    }

    private static let widths: StarWidths = {
        var widths = StarWidths([])
        widths.values = [2.4, 2.5, 2.5, 2.5, 2.6, 4]
        return widths
    }()

    static func source(_ x: Double, _ y: Double, _ sector: Int) -> Source {
        var source = Source(x: x, y: y, sector: sector)
        (source.alpha, source.delta, source.alphaWindow, source.deltaWindow) = (250.4, 36.5, 250.4, 36.5)
        (source.fluxAuto, source.fluxErrorAuto, source.fluxIsophotal, source.peak) = (1000, 10, 900, 200)
        (source.halfLightRadius, source.kronRadius, source.a, source.b, source.theta) = (1.5, 3.5, 1.3, 1.2, 30)
        (source.fwhm, source.background, source.threshold, source.area) = (2.5, 100, 4.5, 25)
        (source.fluxesAperture, source.fluxErrorsAperture) = ([950], [9])
        return source
    }

    static let profile: CleanProfile = {
        let numbers: [Double] = [1000, 25, 4.9, 0.8, 4.5, 0.6, 0.6, 0.01, 1.3, 4, 30, 20, 0]
        guard let profile = numbers.withUnsafeBufferPointer({ CleanProfile($0) }) else {
            fatalError("an honest sample cannot be made: a profile")
        }
        return profile
    }()

    private static func found(_ sector: Int, near rect: PixelRect, isCleaned: Bool, count: Int) -> SectorResult {
        let sources = (0..<count).map { place in
            source(Double(rect.x) + 3 + Double(2 * place), Double(rect.y) + 4 + Double(place), sector)
        }
        return SectorResult(
            sector: sector, sources: sources, truncatedSources: count / 2,
            cleaning: isCleaned ? .init(exponent: 1, profiles: sources.map { _ in profile }) : nil)
    }

    private static func scanned(
        _ sector: Sector, _ image: ImageReference, isCleaned: Bool, _ richness: UInt8
    ) -> SectorResult {
        var result = found(sector.index, near: sector.core, isCleaned: isCleaned, count: Int(richness & 3))
        // Workers of earlier versions do not do that.
        if richness & 16 == 0 { result.spareRoom() }
        if richness & 4 == 4 {
            result.scanned = [ScannedPart(sector: sector.index, core: sector.core, rect: sector.padded)]
        }
        if richness & 8 == 8 {
            let core = sector.core
            result.fragments = [
                .init(
                    outline: PixelRect(x: core.x, y: core.y, width: core.width, height: 1),
                    sources: [source(Double(core.x) + 1, Double(core.y) + 1, sector.index)],
                    profiles: isCleaned ? [profile] : nil)
            ]
        }
        if image.injection != nil {
            var star = InjectedStar(number: 1, x: Double(sector.core.x) + 2, y: Double(sector.core.y) + 2, flux: 50)
            (star.alpha, star.delta) = (250.4, 36.5)
            result.injected = [star]
        }
        return result
    }

    private static func preview(of info: ImageInfo, _ side: Int, encodes: Bool) -> ImagePreview {
        let binning = (max(info.width, info.height) - 1) / max(side, 1) + 1
        let (width, height) = ((info.width - 1) / binning + 1, (info.height - 1) / binning + 1)
        // A large picture is not needed to see what becomes of one.
        let isSmall = width * height <= 1 << 14
        let tree = ValueTree.object([
            .init(key: "width", value: .integer(Int64(width))), .init(key: "height", value: .integer(Int64(height))),
            .init(key: "binning", value: .integer(Int64(binning))),
            .init(key: "pixels", value: .bytes([UInt8](repeating: 90, count: isSmall ? width * height : 256))),
        ])
        return honest { try tree.decoded() }
    }

    static let candidate = DifferenceCandidate(
        x: 70, y: 20, xOld: 70, yOld: 20, alpha: 250.4, delta: 36.5, positionError: 0.1, fluxDifference: 100,
        fluxDifferenceError: 10, fluxNew: 100, fluxNewError: 10, fluxOld: 1, fluxOldError: 10, significance: 10)

    static let change: EpochChange = {
        var change = EpochChange(candidate, kind: .moved, isOnSource: true)
        (change.rate, change.positionAngle, change.track) = (3, 90, 1)
        return change
    }()

    private static func difference(_ order: DifferenceOrder) -> DifferenceResult {
        var result = DifferenceResult(sector: order.sector.index, corePixels: 4096)
        result.candidates = [candidate]
        return result
    }
}
