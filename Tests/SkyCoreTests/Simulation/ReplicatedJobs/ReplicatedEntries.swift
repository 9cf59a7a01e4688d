import Base

@testable import SkyCore

/// What the batches of the replicated journal carry: entries of a coordinator.
struct ReplicatedEntries: LogContent {
    var entries: [JournalEntry]
    /// How long the coordinator had run by then, in all its incarnations.
    var ran: Duration
    let digest: UInt64
    var byteCount: Int { entries.reduce(16) { $0 + $1.byteCount } }
    var isMark: Bool { false }
    var makesRoom: Bool { entries.contains(where: \.isDeletion) }

    /// - Parameter serial: a number that no other content has. Nothing damages contents here, so that it stands for them.
    init(_ entries: [JournalEntry], ran: Duration, serial: UInt64) {
        (self.entries, self.ran) = (entries, ran)
        digest = SplitMix64.mixed(serial &+ SplitMix64.step)
    }
}
