import Transport

/// What the last few jobs that somebody asked about came to: read from the journal once, handed out in pages.
struct FetchedResults {
    struct Entry {
        var catalogue: Catalogue?
        var preview: ImagePreview?
        var runs: [SectorRun]
        /// Of a scan, what its image has beneath the sources.
        var background: BackgroundMap?
        /// Of a comparison, in the order of its parts; what failed is left out.
        var parts: [ComparedPart] = []
    }

    private var entries: [(job: JobID, entry: Entry)] = []

    /// Jobs kept: as many as a command fetches at a time.
    private static let limit = 4

    subscript(job: JobID) -> Entry? { entries.first { $0.job == job }?.entry }

    /// What a job came to, put together: of a crowded image that takes a while, in which the caller can do something else.
    static func entry(of replay: JobReplay) async -> Entry {
        let plan = replay.plan as? SkyPlan
        var entry = Entry(catalogue: plan?.catalogue, preview: plan?.preview, runs: replay.runs)
        entry.background = plan?.background
        if let compared = replay.plan as? ComparePlan {
            entry.parts = compared.parts.sorted { $0.key < $1.key }.map(\.value)
        }
        return entry
    }

    mutating func insert(_ job: JobID, _ entry: Entry) {
        forget(job)
        entries.append((job, entry))
        if entries.count > FetchedResults.limit { entries.removeFirst() }
    }

    mutating func forget(_ job: JobID) { entries.removeAll { $0.job == job } }
}
