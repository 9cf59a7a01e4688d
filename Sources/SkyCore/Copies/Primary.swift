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
    /// When something was stored last, or happened around it.
    var lastBusy: Duration
    /// The batch that changed the members last.
    var setNumber: UInt64 = 0
    /// The replicas that are to be members beside this one.
    var desired: [ReplicaID] = []
    /// Whether another replica has room for a copy.
    var hasSpare = false
    /// Whether a change of the members waits to be stored.
    var isChanging = false
    /// The members that there are to be, and since when: they are asked whether they are still there.
    var plan: (members: [ReplicaID], since: Duration)?
    /// Since when this replica's own node is about to go while another one is there that could be the primary.
    var leavingSince: Duration?
    var isLeaving: Bool { leavingSince != nil }

    /// From when on an answer says that a standby is still there, where much depends on it.
    var askingSince: Duration? { [leavingSince, plan?.since].compactMap { $0 }.max() }

    /// Whether the members are what a quorum has.
    var areMembersCommitted: Bool { stage == .open && setNumber <= committed }

    /// Whoever has this batch knows the members of now.
    var membersNumber: UInt64 { max(setNumber, firstNumber - min(firstNumber, 1)) }

    init(term: UInt64, firstNumber: UInt64, now: Duration) {
        (self.term, self.firstNumber, begun, lastBusy) = (term, firstNumber, now, now)
    }

    /// Those of `desired` that are to have a vote. With one copy there is no majority without the primary, so the copy is kept without.
    var voters: ArraySlice<ReplicaID> { desired.prefix(desired.count / 2 * 2) }

    /// The followers that get each batch at once: as many as make a quorum with the primary, of those that store fastest. Where
    /// they are equal, it is those that stand first after a loss. Whoever is to become a member gets each batch, too, and while
    /// members change all do.
    func needed(of set: ReplicaSet, besides own: ReplicaID, _ policy: CopyPolicy, _ now: Duration) -> Set<ReplicaID> {
        guard set.former.isEmpty, set.members.contains(own) else { return Set(followers.keys) }
        let standbys = set.members.filter { $0 != own }
        let prompt = standbys.filter { followers[$0]?.isPrompt(policy, now) == true }
        let fastest = prompt.compactMap { followers[$0]?.storingTime }.min() ?? .zero
        // A difference that nobody notices does not change who is asked.
        let slow = prompt.filter { (followers[$0]?.storingTime ?? .zero) > fastest * 2 + .milliseconds(10) }
        var needed: Set<ReplicaID> = [own]
        for replica in prompt.filter({ !slow.contains($0) }) + slow where !set.isQuorum(needed) {
            needed.insert(replica)
        }
        guard set.isQuorum(needed) else { return Set(followers.keys) }
        return needed.union(voters.filter { !standbys.contains($0) })
    }
}
