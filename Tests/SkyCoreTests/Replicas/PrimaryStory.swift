@testable import SkyCore

/// A primary and what happens to it, in seconds: its standbys have everything, and answer whatever they are sent, or do not.
struct PrimaryStory {
    typealias Core = ReplicaCore<SimulatedContent>

    var core: Core
    /// Those that answer.
    var answering: Set<ReplicaID>
    /// How many bytes standbys may keep of the journal.
    var shares: [ReplicaID: Int] = [:]
    /// Whether standbys heed a pause between calls. Those of before do not, and ticks come ten times a second then.
    let heedPauses: Bool
    var seconds = 0.0
    /// The last call of each standby that does not answer, where standbys heed pauses; else such a call fails at once.
    private(set) var unanswered: [ReplicaID: UInt64] = [:]
    private(set) var sets: [ReplicaSet] = []
    private(set) var closure: ReplicaClosure?

    init(_ own: ReplicaID, _ others: [ReplicaID], at start: LogPosition, heedPauses: Bool = false) {
        core = Core(
            own,
            record: ReplicaRecord(
                promised: 1, promisedTo: own, position: start, set: ReplicaSet(members: [own] + others)),
            recent: RecentBatches(), policy: CopyPolicy(copies: max(2, others.count)), seed: 1, now: .zero)
        answering = Set(others)
        self.heedPauses = heedPauses
    }

    mutating func step(_ event: (inout Core) -> Void) {
        carryOut(core.at(.seconds(seconds), event))
    }

    private mutating func carryOut(_ first: [Core.Output]) {
        var outputs = first
        while let output = outputs.first {
            outputs.removeFirst()
            switch output {
            case .write(let write):
                if case .append(let batches, _, _) = write { sets += batches.compactMap(\.set) }
                outputs += core.at(.seconds(seconds)) { $0.wrote(true) }
            case .send(.append(let request), let replica, let call) where answering.contains(replica):
                outputs += answer(of: replica, call, request.batches.last?.position ?? request.head)
            case .send(.append, let replica, let call) where heedPauses: unanswered[replica] = call
            case .send(_, let replica, let call):
                outputs += core.at(.seconds(seconds)) { $0.failed(to: replica, call: call) }
            case .close(let closure): self.closure = closure
            default: break
            }
        }
    }

    private mutating func answer(of replica: ReplicaID, _ call: UInt64, _ position: LogPosition?) -> [Core.Output] {
        let reply = ReplicaReply(
            promised: 1, position: position, isGranted: true, share: shares[replica],
            heedsPause: heedPauses ? true : nil)
        return core.at(.seconds(seconds)) { $0.replied(reply, from: replica, call: call) }
    }

    /// One that has kept its caller waiting answers.
    mutating func answerLate(_ replica: ReplicaID) {
        guard let call = unanswered.removeValue(forKey: replica) else { return }
        carryOut(answer(of: replica, call, core.record.position))
    }

    /// Time passes, with ticks as they are due.
    mutating func wait(until end: Double, available: [ReplicaID], away: [ReplicaID: Double] = [:]) {
        while seconds < end {
            let pause = heedPauses ? max(0.1, core.tickPause / .seconds(1)) : 0.1
            seconds = heedPauses ? min(end, seconds + pause) : seconds + pause
            let now = seconds
            step { $0.tick(available: available, away: away.mapValues { .seconds(now - $0) }) }
        }
    }

    func follower(_ replica: ReplicaID) -> Follower<SimulatedContent>? {
        guard case .primary(let primary) = core.role else { return nil }
        return primary.followers[replica]
    }
}
