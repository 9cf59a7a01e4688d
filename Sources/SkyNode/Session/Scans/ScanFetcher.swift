import Base
import NIOPosix
import Sky
import SkyCore
import SkyJobs
import Transport

/// Fetches the results of a finished job, page by page.
struct ScanFetcher {
    let coordinator: CoordinatorConnection
    let job: JobID

    /// Longest time for one page. A page has a few megabytes.
    static let patience = Duration.seconds(60)

    func catalogue() async throws -> Catalogue { try await timedCatalogue().catalogue }

    /// The catalogue, and how long the coordinator took to merge it, if it says so.
    func timedCatalogue() async throws -> (catalogue: Catalogue, merge: Duration?) {
        var sources: [Source] = []
        var first: CataloguePage?
        while true {
            let page = try await coordinator.page(CataloguePage.self, of: job, from: sources.count)
            first = first ?? page
            sources += page.sources
            if page.sources.isEmpty || sources.count >= page.total {
                var catalogue = Catalogue(
                    info: first?.info ?? page.info, sources: sources, truncated: page.truncated, filter: page.filter,
                    injected: first?.injected)
                catalogue.arithmetic = first?.arithmetic.map { Arithmetic(PrintableText.of($0)) }
                return (catalogue, first?.merge)
            }
        }
    }

    /// The catalogue, with the digest of its file.
    ///
    /// - Parameter content: what the file held, if it was read beside the scan. Otherwise it is read now, unless a node had to read
    ///   the whole file.
    func catalogue(of path: String, content: FileContent?) async throws -> Catalogue {
        var catalogue = try await catalogue()
        await ScanFetcher.addDigest(of: path, content: content, to: &catalogue)
        return catalogue
    }

    /// Adds the digest of the catalogue's file where no node had to read the whole file.
    ///
    /// - Parameter content: what the file held, if it was read beside the scan; otherwise it is read now.
    /// - Returns: whether the file was read now.
    @discardableResult
    static func addDigest(of path: String, content: FileContent?, to catalogue: inout Catalogue) async -> Bool {
        guard catalogue.info.content?.hexadecimal == nil else { return false }
        // There is no digest if the file is gone or has been replaced meanwhile.
        let found = if let content { content } else { await ContentReading.content(of: path) }
        let scanned = catalogue.info.content
        catalogue.info.content = found.flatMap { scanned?.isOfSameFile(as: $0) == false ? nil : $0 }
        return content == nil
    }

    func runs() async throws -> [SectorRun] {
        try await coordinator.page(SectorRunsPage.self, of: job).runs
    }

    /// The check images of an image.
    func checkImages(_ images: [CheckImage], of catalogue: Catalogue) async throws -> CheckImageFiles {
        var files = CheckImageFiles(images, of: catalogue.info)
        var (number, total) = (0, 1)
        while number < total {
            let page = try await coordinator.page(CheckPixelsPage.self, of: job, from: number)
            files.add(page)
            (number, total) = (number + 1, page.total)
        }
        return files
    }

    func preview() async throws -> ImagePreview? {
        try await coordinator.page(PicturePage.self, of: job).preview
    }
}

extension CoordinatorConnection {
    /// Fetches one page of a job that has ended.
    nonisolated func page<Page: ResultsPage>(_ type: Page.Type, of job: JobID, from: Int = 0) async throws -> Page {
        try await fetch { try await $0.page(type, of: job, from: from) }
    }

    /// Fetches an answer that is no larger than a page.
    nonisolated func fetch<Result: Sendable>(
        _ body: @Sendable (Coordinator) async throws -> Result
    ) async throws -> Result {
        try await call(aboutKnownJob: true) { coordinator in
            try await withDeadline(ScanFetcher.patience) { try await body(coordinator) }
        }
    }
}
