import Base

/// A place in a replicated journal: after the batch with this number, which the primary of this term has made.
///
/// Positions are compared by term first and by number second (Ongaro and Ousterhout, "In Search of an Understandable
/// Consensus Algorithm", 5.4.1): of two journals, the one that was written to in the later term has all that counts, however
/// long the other one is.
struct LogPosition: Hashable, Codable, Sendable, Comparable {
    /// The beginning of every journal.
    static let start = LogPosition(term: 0, number: 0, hash: 0)

    var term: UInt64
    var number: UInt64
    /// Stands for everything up to here: journals with the same hash have the same batches.
    var hash: UInt64

    static func < (left: LogPosition, right: LogPosition) -> Bool {
        (left.term, left.number) < (right.term, right.number)
    }

    /// The position after one more batch.
    ///
    /// - Parameter digest: stands for what is in the batch.
    func next(in term: UInt64, digest: UInt64) -> LogPosition {
        var mixed = SplitMix64.mixed(hash &+ SplitMix64.step)
        for word in [term, number, digest] { mixed = SplitMix64.mixed(mixed ^ (word &+ SplitMix64.step)) }
        return LogPosition(term: term, number: number + 1, hash: mixed)
    }
}
