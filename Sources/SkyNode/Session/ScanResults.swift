import SkyCore
import Transport

/// Fetches what a finished job came to, page by page.
struct ScanResults {
    let coordinator: Coordinator
    let job: JobID

    /// Time for one page; a page is a few megabytes.
    static let patience = Duration.seconds(60)

    func catalogue() async throws -> Catalogue {
        var sources: [Source] = []
        while true {
            let request = CatalogueRequest(job: job, from: sources.count)
            let page = try await withDeadline(ScanResults.patience) { try await coordinator.catalogue(request) }
            sources += page.sources
            if page.sources.isEmpty || sources.count >= page.total {
                return Catalogue(
                    info: page.info, sources: sources, truncated: page.truncated, filter: page.filter)
            }
        }
    }

    func preview() async throws -> ImagePreview? {
        try await withDeadline(ScanResults.patience) { try await coordinator.preview(job) }
    }
}
