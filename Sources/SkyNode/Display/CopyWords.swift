import Base
import SkyCore

/// Where the copies of a job are, in words.
enum CopyWords {
    /// Such as "2 of 2", or "copy, 0.2 s behind" where the copy has no vote; empty where none are wanted.
    static func short(_ report: CopyReport?) -> String {
        guard let report, report.wanted > 0 else { return "" }
        let kept = report.kept
        if kept.count == 1, kept[0].hasVote == false { return "copy" + behind(kept[0]) }
        return "\(kept.count) of \(report.wanted)"
    }

    /// Such as "2 of 2: dome-2 (complete), dome-3 (complete)".
    static func long(_ report: CopyReport) -> String {
        let kept = "\(report.kept.count) of \(report.wanted)"
        return report.copies.isEmpty
            ? "\(kept): no other node keeps any"
            : kept + ": " + report.copies.map(one).joined(separator: ", ")
    }

    static func one(_ copy: CopyState) -> String {
        "\(PrintableText.of(copy.node ?? "a node that is not here")) (\(state(copy))\(copy.hasVote ? "" : ", without a vote"))"
    }

    private static func state(_ copy: CopyState) -> String {
        if copy.isInReach == false { return "does not answer" }
        if copy.wasDamaged == true { return "was damaged and is being made anew" }
        if copy.isFull == true {
            return copy.reason.map { "cannot store it: \(PrintableText.of($0))" } ?? "has no room"
        }
        guard let count = copy.behind else { return "gets a whole copy" }
        return count == 0 ? "complete" : "\(count) \(count == 1 ? "batch" : "batches")\(behind(copy))"
    }

    /// Such as ", 0.2 s behind"; empty for a copy that lacks nothing.
    private static func behind(_ copy: CopyState) -> String {
        guard let seconds = copy.secondsBehind, copy.behind ?? 0 > 0 else { return "" }
        return ", \(DurationText.fixed(seconds, 1)) s behind"
    }
}

/// The copies of a job as a program reads them.
struct CopyLine: Encodable {
    struct Copy: Encodable {
        var node: String?
        /// Batches and seconds that it lacks; nothing where that is not known.
        var behind: UInt64?
        var secondsBehind: Double?
        var hasVote: Bool
        var isInReach: Bool?
        var wasDamaged: Bool?
        /// Why its node cannot store it, where that is not for want of room.
        var reason: String?
    }

    var wanted: Int
    var kept: Int
    var term: UInt64
    var nodes: [Copy]

    init(_ report: CopyReport) {
        (wanted, kept, term) = (report.wanted, report.kept.count, report.term)
        nodes = report.copies.map {
            Copy(
                node: $0.node, behind: $0.behind, secondsBehind: $0.secondsBehind, hasVote: $0.hasVote,
                isInReach: $0.isInReach, wasDamaged: $0.wasDamaged, reason: $0.reason)
        }
    }
}
