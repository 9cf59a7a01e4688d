import SkyCore

/// What a node's journal holds, for people.
struct StorageLines {
    let lines: [String]

    init(_ usage: JournalUsage) {
        let size = SizeArgument.text
        lines = [
            "\(usage.jobs) jobs and \(usage.cachedResults) earlier results in \(size(usage.bytes)) of \(size(usage.limit))",
            "earlier results: \(size(usage.cacheBytes)) of \(size(usage.cacheLimit)); since the node's start they answered "
                + "\(usage.hits) of \(usage.hits.asCount + usage.misses.asCount) tasks, \(usage.evictions) evicted",
        ]
    }
}
