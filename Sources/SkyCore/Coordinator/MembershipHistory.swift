import NIOConcurrencyHelpers
import Transport

/// The recent changes of the membership, for those that follow them. It belongs to the node, because a watcher's picture goes on
/// where the node's coordinator ends and another one takes its place.
final class MembershipHistory: Sendable {
    private struct State {
        var log = MembershipLog()
        /// Opens with the next change.
        var latch = Latch()
    }

    private let state = NIOLockedValueBox(State())

    /// The longest that a watcher waits in one call.
    private static let patienceLimit = Duration.seconds(10)

    /// The feed of members begins, or begins again. Members that left while nobody listened are reported as lost.
    func begins(with members: Set<NodeID>, at uptime: Duration) {
        let known = state.withLockedValue { Set($0.log.members.keys) }
        for node in known.subtracting(members).sorted() { note(.lost(node), at: uptime) }
    }

    func note(_ event: MembershipEvent, at uptime: Duration) {
        let latch = state.withLockedValue { state -> Latch? in
            guard state.log.append(event, time: WallClock.milliseconds, uptime: uptime) else { return nil }
            defer { state.latch = Latch() }
            return state.latch
        }
        latch?.open()
    }

    /// Adds the nodes that another node lost before this one was there to notice.
    func learn(from page: MembershipPage, at uptime: Duration) {
        guard let told = page.lost, !told.isEmpty else { return }
        state.withLockedValue { $0.log.learn(told, at: uptime, theirs: page.uptime) }
    }

    /// The nodes that were lost and are not back. Another one of this machine is not missed while this one is there.
    func lost(from system: ClusterSystem) -> [LostMember] {
        state.withLockedValue { $0.log.lost(at: system.now) }.filter { $0.name != system.name }
    }

    /// The changes since the number in the request. Waits where there are none yet.
    func page(_ request: MembershipRequest, of system: ClusterSystem) async -> MembershipPage {
        let (next, latch) = state.withLockedValue { ($0.log.nextNumber, $0.latch) }
        if request.from == next {
            await latch.wait(atMost: min(max(.zero, request.patience), MembershipHistory.patienceLimit))
        }
        let (own, lost) = (system.ownMember, lost(from: system))
        // The log is not copied: a change that came meanwhile would have to copy it, too.
        return state.withLockedValue { state in
            let entries = request.from.flatMap { state.log.entries(from: $0) }
            return MembershipPage(
                members: entries == nil ? [own] + state.log.members.values : nil, entries: entries ?? [],
                next: state.log.nextNumber, time: WallClock.milliseconds, uptime: system.now,
                lost: entries == nil ? lost : nil)
        }
    }
}
