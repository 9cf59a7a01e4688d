// MARK: - When the next tick is needed

extension ReplicaCore {
    /// How long it may take until the next `tick`, if nothing happens meanwhile. A replica that has nothing to do is seldom woken,
    /// because each node has one for every coordinator whose journal it keeps.
    var tickPause: Duration {
        switch role {
        case .standby:
            let silent = policy.adoptAfter * (mayVote ? 1 : 2) + pause
            return calmPause(until: max(lastContact + silent, mayStandAt))
        case .candidate: return ReplicaCore.shortPause
        case .primary(let primary):
            // Where there is nobody to call or to wait for, it is enough to look now and then who may keep a copy.
            guard !isLonely else { return ReplicaCore.lonelyPause }
            guard !isLeaving, primary.plan == nil else { return ReplicaCore.shortPause }
            let isCalm = primary.stage == .open && !primary.isChanging && primary.followers.values.allSatisfy(hasAll)
            guard isCalm,
                let due = primary.followers.values.lazy.map({ $0.callSent + heartbeat(of: $0, primary) }).min()
            else { return ReplicaCore.shortPause }
            // Where there are too few copies, others are looked for as often as ever.
            return calmPause(
                until: primary.desired.count < policy.copies ? min(due, now + policy.heartbeat) : due)
        }
    }

    /// How long after the last call a standby is called for which there is nothing.
    func heartbeat(of follower: Follower<Content>, _ primary: Primary<Content>) -> Duration {
        // Who is still there is to be known at once.
        if let since = primary.askingSince, follower.callSent < since { return .zero }
        return policy.heartbeat + (isCalm(primary) ? follower.pause : .zero)
    }

    /// How much longer than usual a standby is told to wait for the next call.
    func pause(of follower: Follower<Content>, _ primary: Primary<Content>) -> Duration {
        isCalm(primary) && follower.heedsPause ? max(.zero, policy.calmHeartbeat - policy.heartbeat) : .zero
    }

    /// Whether nothing has happened for a while, and every follower has everything.
    private func isCalm(_ primary: Primary<Content>) -> Bool {
        primary.stage == .open && !primary.isChanging && now - primary.lastBusy >= policy.calmAfter
            && primary.followers.values.allSatisfy(hasAll)
    }

    /// Whether a primary hears so many of the members that these are enough to decide.
    func hearsQuorum(_ primary: Primary<Content>) -> Bool {
        let heard = primary.followers.filter { $0.value.isInReach(policy, now) }
        return record.set.isQuorum(Set(heard.keys).union([own]))
    }

    private static var shortPause: Duration { .milliseconds(100) }
    private static var lonelyPause: Duration { .seconds(1) }

    private func calmPause(until due: Duration) -> Duration { max(due - now, ReplicaCore.shortPause) }

    private func hasAll(_ follower: Follower<Content>) -> Bool {
        follower.isFollowing && follower.acked == record.position?.number
    }
}
