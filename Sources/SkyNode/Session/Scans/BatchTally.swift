import Base

/// How many images of a batch have been scanned, for a user who stops it before its end.
struct BatchTally: Sendable {
    private var whole = 0
    private var partial = 0

    /// Counts one more image that has results.
    mutating func count(wholly: Bool) {
        if wholly { whole += 1 } else { partial += 1 }
    }

    /// A message about a batch that was stopped: what has been written, and what has not.
    func words(_ plan: ScanPlan, keepsPartial: Bool) -> String {
        let done = "cancelled: \(whole) of \(plan.items.count) images were scanned"
        let merged =
            plan.output.merged(besides: plan.stems, isPartial: true).first
            .map { PrintableText.of($0.path) } ?? "standard output"
        if plan.output.isFile {
            // One catalogue is all that was requested.
            guard keepsPartial, whole + partial > 0, !plan.output.isStandardOutput else {
                let advice =
                    plan.output.isStandardOutput ? "" : "; --keep-partial writes those that are done to \(merged)"
                return "\(done), nothing was written\(advice)"
            }
            return "\(done); \(merged) has the sources of those"
        }
        guard whole + partial > 0 else { return "\(done), nothing was written" }
        var words = "\(done), and their files are in \(PrintableText.of(plan.output.folder))"
        if partial > 0 { words += ", with those of \(partial) scanned in part" }
        guard plan.merges else { return words }
        return words
            + (keepsPartial
                ? "; \(merged) has the sources of those"
                : "; no catalogue of all was written (--keep-partial writes one of those that are done, \(merged))")
    }
}
