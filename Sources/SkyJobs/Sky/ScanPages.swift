package import Sky
package import SkyCore
import Transport

/// Some sources of a scan's catalogue.
package struct CataloguePage: Codable, Sendable {
    package var info: ImageInfo
    /// The sources from the requested index on.
    @PackedRecords package var sources: [Source]
    /// The number of sources in the whole catalogue.
    package var total: Int
    /// The number of sources that are cut by the rim of what their sector saw, in the whole image.
    package var truncated: Int
    /// The arithmetic of the program that measured them; `nil` from a coordinator of an earlier version.
    package var arithmetic: String?
    /// The filter that the sources were found with.
    package var filter: DetectionFilter
    /// All artificial stars; they come in the first page only.
    package var injected: [InjectedStar]?
    /// How long the coordinator took to read the sectors' results and to merge them; `nil` in later pages, and from a coordinator
    /// of an earlier version.
    package var merge: Duration?
}

extension CataloguePage: ResultsPage {
    package static var name: String { "catalogue" }

    /// The number of sources in one page, which takes about 4 MB on the wire.
    private static let length = 12_000

    package init(from: Int, of job: EndedJob) throws {
        guard let catalogue = job.scan?.catalogue else {
            throw RemoteError(.failed, "job \(job.id) has no catalogue")
        }
        let start = min(max(0, from), catalogue.sources.count)
        info = catalogue.info
        // The header is sent only once, in the first page.
        if start > 0 { info.header = nil }
        sources = Array(catalogue.sources[start...].prefix(CataloguePage.length))
        (total, truncated) = (catalogue.sources.count, catalogue.truncatedSources)
        (arithmetic, filter) = (job.arithmetic, catalogue.filter)
        (injected, merge) = start > 0 ? (nil, nil) : (catalogue.injected, job.mergeTime)
    }
}

/// The small picture that was drawn for a scan.
package struct PicturePage: Codable, Sendable {
    /// `nil` where there is none.
    package var preview: ImagePreview?
}

extension PicturePage: ResultsPage {
    package static var name: String { "picture" }

    package init(from: Int, of job: EndedJob) { preview = job.scan?.preview }
}

/// Which node scanned which sector.
package struct SectorRunsPage: Codable, Sendable {
    package var runs: [SectorRun]
}

extension SectorRunsPage: ResultsPage {
    package static var name: String { "sectors" }

    package init(from: Int, of job: EndedJob) { runs = job.scan?.runs ?? [] }
}

/// The background of a scanned image, for comparing the image with others.
package struct BackgroundPage: Codable, Sendable {
    /// `nil` where the scan did not get that far.
    package var background: BackgroundMap?
}

extension BackgroundPage: ResultsPage {
    package static var name: String { "background" }

    package init(from: Int, of job: EndedJob) { background = job.scan?.background }
}

extension CheckPixelsPage: ResultsPage {
    package static var name: String { "planes" }

    package init(from: Int, of job: EndedJob) throws {
        guard let planes = job.scan?.planes else { throw RemoteError(.failed, "job \(job.id) has no check images") }
        self = planes.page(from)
    }
}

extension EndedJob {
    /// The results of a scan; `nil` for a job of another kind.
    fileprivate var scan: ScanResults? { results as? ScanResults }
}
