import Base
package import Sky
package import SkyCore
import Transport

/// The scan of an image.
enum SkyKind: JobKind {
    static var request: any KindRequest.Type { SkyRequest.self }
    static var work: [any KindWork.Type] { [SkyWork.self, PixelWork.self] }
    static var results: [any KindResult.Type] { [SkyResult.self, PixelResult.self] }
    static var events: [any KindEvent.Type] { [ScanEvent.self] }
    static var tools: [any NodeTool.Type] { [PixelTool.self] }

    static var pages: [any ResultsPage.Type] {
        [CataloguePage.self, PicturePage.self, SectorRunsPage.self, BackgroundPage.self, CheckPixelsPage.self]
    }
    static var methods: [Method] { MethodsOfBefore.ofScans }
}

extension SkyRequest: KindRequest {
    package static var name: String { "sky" }

    package var title: String {
        image.path + (image.layer?.words ?? "")
            + (image.injection.map { " with \($0.count) injected stars" } ?? "")
            + (image.detection.map { " with the sources of \($0.image.path)" } ?? "")
    }

    package func scheduling(_ options: JobOptions) -> JobOptions { options.ofImages }

    package func plan() -> any JobPlan { SkyPlan(self) }

    package mutating func goWithoutCache() { usesCache = false }

    package var inputs: Set<[UInt8]> { image.inputs }
}

extension ImageReference {
    /// The digests of its files, as far as all their bytes are known.
    var inputs: Set<[UInt8]> { Set(contents.filter { $0.content.isSample != true }.map(\.content.digest)) }
}

extension JobRequest.Kind {
    package static func sky(_ request: SkyRequest) -> Self { Self(request) }

    /// The request of the scan; `nil` for a job of another kind.
    package var scan: SkyRequest? { request as? SkyRequest }
}

extension JobOptions {
    /// The options of jobs whose tasks read images.
    var ofImages: JobOptions {
        var options = self
        options.sharesInput = true
        options.needsAlike = true
        guard options.retries == nil else { return options }
        // If cfitsio or wcslib crashes on a file, it crashes on that file every time.
        options.crashes = 1
        return options
    }
}

/// An event of a scan.
package enum ScanEvent: KindEvent {
    /// The header of the image was read, so the number of sectors to scan is known.
    case planned(ImageInfo, sectors: Int)
    case sectorDone(sector: Int, sources: Int)

    package static var cases: [String] { ["planned", "sectorDone"] }

    package var words: String? {
        guard case .planned(let info, let sectors) = self else { return nil }
        return "\(info.width) x \(info.height) pixels, \(sectors) sector\(sectors == 1 ? "" : "s")"
    }

    package var name: String {
        switch self {
        case .planned: "planned"
        case .sectorDone: "sector"
        }
    }

    package var fields: any Encodable {
        switch self {
        case .planned(let info, let sectors):
            Planned(
                width: info.width, height: info.height, missingCoordinates: info.missingCoordinates, sectors: sectors)
        case .sectorDone(let sector, let sources): Sector(sector: sector, sources: sources)
        }
    }

    package var comesOnce: Bool { if case .planned = self { true } else { false } }

    private struct Planned: Encodable {
        var width: Int
        var height: Int
        var missingCoordinates: String?
        var sectors: Int
    }

    private struct Sector: Encodable {
        var sector: Int
        var sources: Int
    }
}
