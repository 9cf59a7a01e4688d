import Base
import SkyCore

/// What a node's journal holds, for people.
struct StorageLines {
    let lines: [String]

    init(_ usage: JournalUsage) {
        let size = SizeArgument.text
        let copies = usage.copies.map { copies in
            copies.isEmpty
                ? "copies: none; there is no other node that keeps any"
                : "copies: " + copies.map(CopyWords.one).joined(separator: ", ")
        }
        lines =
            [
                "\(usage.jobs) jobs and \(usage.cachedResults) earlier results in \(size(usage.bytes)) of \(size(usage.limit))",
                "earlier results: \(size(usage.cacheBytes)) of \(size(usage.cacheLimit)); since the node's start they answered "
                    + "\(usage.hits) of \(usage.hits.asCount + usage.misses.asCount) tasks, \(usage.evictions) evicted",
            ] + (copies.map { [$0] } ?? [])
            + (usage.otherCopiesBytes.map {
                $0 > 0 ? ["copies of other nodes' jobs: \(size($0)), within the same --data-limit"] : []
            }
                ?? [])
            + (usage.damagedCopies.map {
                $0 > 0
                    ? ["copies of other nodes' jobs that were damaged since the node's start: \($0); look at its disk"]
                    : []
            } ?? [])
            + (usage.people ?? []).map { person in
                let jobs = person.jobs == 1 ? "1 job" : "\(person.jobs) jobs"
                return
                    "by \(PrintableText.of(person.name)): about \(size(person.bytes)) in \(jobs), \(person.active) of them going on"
            }
    }
}
