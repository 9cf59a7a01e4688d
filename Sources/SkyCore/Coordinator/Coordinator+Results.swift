import Distributed
package import Sky
import Transport

// What jobs came to, in pages.

extension Coordinator {
    /// A part of the catalogue of a sky job that has ended, as far as its sectors are done.
    ///
    /// - Throws: `RemoteError` where there is none.
    package distributed func catalogue(_ request: CatalogueRequest) async throws -> CataloguePage {
        guard let catalogue = try await results(of: request.job).catalogue else {
            throw RemoteError(.failed, "job \(request.job) has no catalogue")
        }
        let all = catalogue.sources
        let start = min(max(0, request.from), all.count)
        var info = catalogue.info
        // Once is enough.
        if start > 0 { info.header = nil }
        let page = all[start..<min(all.count, start + Coordinator.pageLength)]
        return CataloguePage(
            info: info, sources: Array(page), total: all.count,
            truncated: catalogue.truncatedSources, filter: catalogue.filter,
            injected: start > 0 ? nil : catalogue.injected)
    }

    /// Sources in one page; about 4 MB on the wire.
    static let pageLength = 12_000

    /// The small image drawn for a sky job that has ended; `nil` where there is none.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    package distributed func preview(_ job: JobID) async throws -> ImagePreview? {
        try await results(of: job).preview
    }

    /// Who scanned which sector of a sky job that has ended.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    package distributed func sectorRuns(_ job: JobID) async throws -> [SectorRun] {
        try await results(of: job).runs
    }

    /// The background of an image that was scanned by a job that has ended, for comparing it with others; `nil` where it got
    /// not that far.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    package distributed func background(_ job: JobID) async throws -> BackgroundMap? {
        try await results(of: job).background
    }

    /// A part of what check images of a sky job that has ended are made of.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on, or was not asked for any.
    package distributed func planes(_ request: PlanesRequest) async throws -> PlanesPage {
        guard let planes = try await results(of: request.job).planes else {
            throw RemoteError(.failed, "job \(request.job) has no check images")
        }
        return planes.page(request.page)
    }

    /// What a comparison came to, a few parts at a time.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    package distributed func compared(_ request: ComparedRequest) async throws -> ComparedPage {
        let parts = try await results(of: request.job).parts
        let start = min(max(0, request.from), parts.count)
        var (end, bytes) = (start, 0)
        while end < parts.count,
            end == start || (end - start < Coordinator.partsOfPage && bytes < Coordinator.bytesOfPage)
        {
            if case .difference(let result) = parts[end] { bytes += result.planes?.byteCount ?? 0 }
            end += 1
        }
        return ComparedPage(parts: Array(parts[start..<end]), total: parts.count)
    }

    /// Each is some 200 kB at most, but for pixels.
    private static let partsOfPage = 32
    private static let bytesOfPage = 16 << 20

    func results(of job: JobID) async throws -> FetchedResults.Entry {
        guard let record = core.jobs[job] else { throw unknown(job) }
        guard record.told.report != nil else { throw RemoteError(.failed, "job \(job) has not ended") }
        fetches += 1
        change { $0.use(job) }
        if let found = fetched[job] { return found }
        // Whoever asks while they are read waits for the same.
        let reading = fetched.reading(job) ?? Task { [journal] in try await FetchedResults.read(record, from: journal) }
        fetched.begin(job, reading)
        let result = await reading.result
        fetched.end(job, reading)
        let entry = try result.get()
        // It may have been deleted meanwhile, and then must not be kept.
        guard core.jobs[job] != nil else { throw unknown(job) }
        fetched.insert(job, entry)
        return entry
    }
}
