// MARK: - When the next tick is needed

extension ReplicaCore {
    /// How long it may take until the next `tick`, if nothing happens meanwhile. A replica that has nothing to do is seldom woken,
    /// because each node has one for every coordinator whose journal it keeps.
    var tickPause: Duration {
        switch role {
        case .standby:
            let silent = policy.adoptAfter * (mayVote ? 1 : 2)
            return calmPause(until: max(lastContact + silent, mayStandAt))
        case .candidate: return ReplicaCore.shortPause
        case .primary(let primary):
            // Where there is nobody to call or to wait for, it is enough to look now and then who may keep a copy.
            guard !isLonely else { return ReplicaCore.lonelyPause }
            guard !isLeaving else { return ReplicaCore.shortPause }
            let isCalm = primary.stage == .open && !primary.isChanging && primary.followers.values.allSatisfy(hasAll)
            guard isCalm, let called = primary.followers.values.lazy.map({ $0.callSent }).min() else {
                return ReplicaCore.shortPause
            }
            return calmPause(until: called + policy.heartbeat)
        }
    }

    private static var shortPause: Duration { .milliseconds(100) }
    private static var lonelyPause: Duration { .seconds(1) }

    private func calmPause(until due: Duration) -> Duration { max(due - now, ReplicaCore.shortPause) }

    private func hasAll(_ follower: Follower<Content>) -> Bool {
        guard case .following = follower.phase else { return false }
        return follower.acked == record.position?.number
    }
}
