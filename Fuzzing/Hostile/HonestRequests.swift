import NIOCore

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import Transport

/// What honest submitters ask for, small enough that a run is short.
enum HonestRequests {
    static func job(_ input: inout FuzzInput) -> JobRequest {
        let choice = input.byte()
        var request: JobRequest
        switch choice & 7 {
        case 0, 1: request = simulation(Int(choice >> 3))
        case 2: request = JobRequest(.compare(comparison))
        default: request = JobRequest(.sky(scan(choice >> 3)))
        }
        let options = input.byte()
        if options & 1 == 1 { request.deadline = .seconds(60) }
        if options & 2 == 2 { request.allowedFailures = 1 }
        if options & 4 == 4 { request.options.priority = 3 }
        if options & 8 == 8 { request.options.retries = Int(options >> 6) }
        if options & 16 == 16 { request.options.use = ["anna", "berta"] }
        if options & 32 == 32 { request.options.avoid = ["carla"] }
        return request
    }

    private static func simulation(_ choice: Int) -> JobRequest {
        var request = SimulateRequest(tasks: choice & 15 + 1, duration: .seconds(1))
        if choice & 16 == 16 {
            (request.failEvery, request.crashEvery, request.poison) = (2, 3, [1: .hang])
        }
        return JobRequest(.simulate(request))
    }

    static let content: FileContent = {
        let tree = ValueTree.object([
            .init(key: "digest", value: .bytes([UInt8](repeating: 7, count: 32))),
            .init(key: "size", value: .integer(80_000)), .init(key: "modified", value: .integer(1_800_000_000)),
            .init(key: "isSample", value: .flag(true)),
        ])
        return honest { try tree.decoded() }
    }()

    static let holder = PixelHolder(node: NodeID(rawValue: 2), name: "berta")

    static func configuration(_ choice: UInt8 = 0) -> ScanConfiguration {
        var configuration = ScanConfiguration()
        configuration.sectorSize = choice & 1 == 0 ? 64 : nil
        configuration.meshSize = choice & 2 == 0 ? 32 : 8
        if choice & 4 == 4 { configuration.filter = .seeing }
        if choice & 8 == 8 { configuration.cleanParameter = nil }
        return configuration
    }

    static func scan(_ choice: UInt8) -> SkyRequest {
        var image = ImageReference(path: "/data/m13.fits", hdu: nil)
        if choice & 16 == 16 {
            var companions = Companions()
            companions.noise = Companions.Image(path: "/data/weights.fits", hdu: 1)
            companions.mask = Companions.Image(path: "/data/mask.fits")
            image.companions = companions
            image.injection = Injection(count: 3, faintest: 10, brightest: 1000, fwhm: 2.5)
        }
        var request = SkyRequest(image: image, configuration: configuration(choice))
        request.pictureSide = choice & 1 == 0 ? 64 : nil
        request.usesCache = choice & 2 == 2
        if choice & 24 == 8 { request.failSector = 0 }
        if choice & 32 == 32 {
            var purpose = ScanPurpose()
            purpose.injection = InjectionDemand(count: 3)
            request.purpose = purpose
        }
        return request
    }

    static let info: ImageInfo = {
        var info = ImageInfo(width: 128, height: 100, bitpix: -32, hdu: 1, hasWCS: true)
        info.header = ["SIMPLE  =                    T", "OBJECT  = 'M 13    '"]
        (info.images, info.auxiliaries) = ([1, 2], ["HDU 3: weights"])
        info.missingCoordinates = "the header's are linear (LINEAR, LINEAR)"
        (info.content, info.noiseContent, info.maskContent) = (content, content, content)
        (info.noiseHDU, info.maskHDU, info.holder) = (1, 0, holder)
        info.cube = ImageCube(planes: 3, isColourImage: true)
        info.layer = ImageLayer()
        info.layer?.scale = PixelScale(offset: 500, exponent: 3)
        return info
    }()

    static let background: BackgroundMap = {
        let tree = ValueTree.object([
            .init(key: "width", value: .integer(128)), .init(key: "height", value: .integer(100)),
            .init(key: "meshSize", value: .integer(32)), .init(key: "globalLevel", value: .real(100)),
            .init(key: "globalRMS", value: .real(3)), .init(key: "noiseScale", value: .real(1.5)),
            .init(key: "levels", value: HonestResults.packed(16, 100)),
        ])
        return honest { try tree.decoded() }
    }()

    static let sector = Sector(
        index: 1, core: PixelRect(x: 64, y: 0, width: 64, height: 64),
        padded: PixelRect(x: 0, y: 0, width: 128, height: 100))

    private static let identity = honest {
        guard let map = PositionMap(shiftFrom: [(0, 0)], to: [(0, 0)]) else { throw ValueReader.Mismatch() }
        return map
    }

    static let order = DifferenceOrder(
        sector: sector,
        alignment: EpochAlignment(
            correction: identity, base: identity, matches: 20, scatter: 0.1, usesSky: true),
        ratio: 1.1, newSeeing: 2.5, oldSeeing: 3, newSaturation: 60_000, oldSaturation: 60_000, gain: 1.5,
        oldInfo: info, stars: [ReferenceStar(x: 70, y: 20, flux: 1000)],
        injected: [InjectedChange(number: 1, x: 90, y: 40, signalToNoise: 30)], injectedWidth: 2.5,
        injectsNarrowest: false, injectionSeed: 7,
        tellsPixels: true)

    static let comparison: CompareRequest = {
        var reference = ImageReference(path: "/data/new.fits", hdu: 1, content: content)
        reference.holder = holder
        let image = CompareRequest.Image(reference: reference, background: background)
        return CompareRequest(
            new: image, old: image,
            work: [.difference(order), .cutouts([HonestResults.change], order), .difference(order)])
    }()

    static let union = SectorUnion(
        rect: PixelRect(x: 0, y: 0, width: 128, height: 100), pieces: [PixelRect(x: 60, y: 10, width: 30, height: 3)],
        taken: [], parts: [ScannedPart(sector: 1, core: sector.core, rect: sector.padded)])
}

/// A sample of ours that cannot be made is a mistake in the target.
func honest<Value>(_ body: () throws -> Value) -> Value {
    do {
        return try body()
    } catch {
        fatalError("an honest sample cannot be made: \(error)")
    }
}
