import Distributed
package import Sky
package import SkyCore
import Transport

// The results of scans, in pages.

extension Coordinator {
    /// A part of the catalogue of a sky job that has ended, as far as its sectors are done.
    ///
    /// - Throws: `RemoteError` if there is no catalogue.
    package distributed func catalogue(_ request: CatalogueRequest) async throws -> CataloguePage {
        if let other = try await elsewhere(request.job) {
            return try await forward(request.job) { try await other.catalogue(request) }
        }
        guard let catalogue = try await scanned(request.job)?.catalogue else {
            throw RemoteError(.failed, "job \(request.job) has no catalogue")
        }
        let all = catalogue.sources
        let start = min(max(0, request.from), all.count)
        var info = catalogue.info
        // The header is sent only once, in the first page.
        if start > 0 { info.header = nil }
        let page = all[start..<min(all.count, start + Coordinator.pageLength)]
        return CataloguePage(
            info: info, sources: Array(page), total: all.count,
            truncated: catalogue.truncatedSources, arithmetic: arithmetic(of: request.job), filter: catalogue.filter,
            injected: start > 0 ? nil : catalogue.injected, merge: start > 0 ? nil : mergeTime(of: request.job))
    }

    /// The number of sources in one page, which takes about 4 MB on the wire.
    static let pageLength = 12_000

    /// The small picture that was drawn for a sky job that has ended; `nil` if there is none.
    ///
    /// - Throws: `RemoteError` if the job is not known here, or still goes on.
    package distributed func preview(_ job: JobID) async throws -> ImagePreview? {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.preview(job) } }
        return try await scanned(job)?.preview
    }

    /// Which node scanned which sector of a sky job that has ended.
    ///
    /// - Throws: `RemoteError` if the job is not known here, or still goes on.
    package distributed func sectorRuns(_ job: JobID) async throws -> [SectorRun] {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.sectorRuns(job) } }
        return try await scanned(job)?.runs ?? []
    }

    /// The background of an image that was scanned by a job that has ended, for comparing the image with others; `nil` if
    /// the scan did not get that far.
    ///
    /// - Throws: `RemoteError` if the job is not known here, or still goes on.
    package distributed func background(_ job: JobID) async throws -> BackgroundMap? {
        if let other = try await elsewhere(job) { return try await forward(job) { try await other.background(job) } }
        return try await scanned(job)?.background
    }

    /// A part of what the check images of a sky job that has ended are made of.
    ///
    /// - Throws: `RemoteError` if the job is not known here, still goes on, or was not asked for check images.
    package distributed func planes(_ request: CheckPixelsRequest) async throws -> CheckPixelsPage {
        if let other = try await elsewhere(request.job) {
            return try await forward(request.job) { try await other.planes(request) }
        }
        guard let planes = try await scanned(request.job)?.planes else {
            throw RemoteError(.failed, "job \(request.job) has no check images")
        }
        return planes.page(request.page)
    }

    /// The results of a scan; `nil` for a job of another kind.
    private func scanned(_ job: JobID) async throws -> ScanResults? { try await results(of: job) as? ScanResults }
}
