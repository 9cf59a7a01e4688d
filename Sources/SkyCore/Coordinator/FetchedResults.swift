import Transport

/// What the last few jobs that somebody asked about came to: read from the journal once, handed out in pages.
struct FetchedResults {
    struct Entry {
        var catalogue: Catalogue?
        var preview: ImagePreview?
        var runs: [SectorRun]
    }

    private var entries: [(job: JobID, entry: Entry)] = []

    /// Jobs kept: as many as a command fetches at a time.
    private static let limit = 4

    subscript(job: JobID) -> Entry? { entries.first { $0.job == job }?.entry }

    mutating func insert(_ job: JobID, _ replay: JobReplay) -> Entry {
        let plan = replay.plan as? SkyPlan
        let entry = Entry(catalogue: plan?.catalogue, preview: plan?.preview, runs: replay.runs)
        forget(job)
        entries.append((job, entry))
        if entries.count > FetchedResults.limit { entries.removeFirst() }
        return entry
    }

    mutating func forget(_ job: JobID) { entries.removeAll { $0.job == job } }
}
