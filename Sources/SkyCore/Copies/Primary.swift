/// The primary's part: who has what, and what is committed.
struct Primary<Content: LogContent>: Sendable {
    enum Stage: Hashable, Sendable {
        /// It waits until everything in its journal is committed. Nothing is published before.
        case confirming
        case open
    }

    let term: UInt64
    var stage = Stage.confirming
    /// The first batch whose number counts as committed when a quorum has it: one of this term, because what is of an earlier
    /// term could still be replaced (Ongaro and Ousterhout, 5.4.2).
    var firstNumber: UInt64
    /// Everything up to this batch is committed.
    var committed: UInt64 = 0
    var followers: [ReplicaID: Follower<Content>] = [:]
    /// When this primary began.
    let begun: Duration
    var headTimes = HeadTimes()
    /// When a quorum was last heard.
    var quorumHeard: Duration
    /// The batch that changed the members last.
    var setNumber: UInt64 = 0
    /// The replicas that are to be members beside this one.
    var desired: [ReplicaID] = []
    /// Whether a change of the members waits to be stored.
    var isChanging = false

    /// Whether the members are what a quorum has.
    var areMembersCommitted: Bool { stage == .open && setNumber <= committed }

    init(term: UInt64, firstNumber: UInt64, now: Duration) {
        (self.term, self.firstNumber, begun, quorumHeard) = (term, firstNumber, now, now)
    }
}
