import Base
import Testing

@testable import SkyCore

/// Which standby gets each batch at once, and what becomes of the other one.
struct GatheredBatchesTests {
    private typealias Core = ReplicaCore<SimulatedContent>
    private typealias Call = (to: ReplicaID, number: UInt64, batches: [LogBatch<SimulatedContent>])

    private let own = ReplicaID(rawValue: 1)
    private let first = ReplicaID(rawValue: 2)
    private let second = ReplicaID(rawValue: 3)
    private let position = LogPosition(term: 1, number: 7, hash: 99)

    private func core(promisedTo primary: ReplicaID, members: [ReplicaID]? = nil, copies: Int = 2) -> Core {
        let record = ReplicaRecord(
            promised: 1, promisedTo: primary, position: position,
            set: ReplicaSet(members: members ?? [own, first, second]))
        var policy = CopyPolicy(copies: copies)
        policy.gatheringTime = .milliseconds(200)
        return Core(own, record: record, recent: RecentBatches(), policy: policy, seed: 1, now: .zero)
    }

    private func calls(_ outputs: [Core.Output]) -> [Call] {
        outputs.compactMap {
            guard case .send(.append(let request), let replica, let number) = $0 else { return nil }
            return (replica, number, request.batches)
        }
    }

    private func reply(_ core: inout Core, _ call: Call, at now: Duration) -> [Call] {
        let position = call.batches.last?.position ?? position
        let reply = ReplicaReply(promised: 1, position: position, isGranted: true)
        return calls(core.at(now) { $0.replied(reply, from: call.to, call: call.number) })
    }

    private func propose(_ core: inout Core, at now: Duration) -> [Call] {
        _ = core.at(now) { $0.propose(SimulatedContent([]), proposal: $0.record.position?.number ?? 0) }
        return calls(core.at(now) { $0.wrote(true) })
    }

    private func tick(_ core: inout Core, at now: Duration) -> [Call] {
        calls(core.at(now) { $0.tick(available: [first, second]) })
    }

    /// A primary whose standbys have everything, a second after its start.
    private func primary(members: [ReplicaID]? = nil, copies: Int = 2) throws -> Core {
        var core = core(promisedTo: own, members: members, copies: copies)
        _ = core.at(.seconds(1)) { $0.begin() }
        for call in tick(&core, at: .seconds(1)) { _ = reply(&core, call, at: .seconds(1)) }
        guard case .primary(let primary) = core.role, primary.stage == .open else { throw CancellationError() }
        return core
    }

    @Test func `the first standby gets each batch at once, the other one many at a time`() throws {
        var core = try primary()
        for number in 1...5 {
            let now = Duration.seconds(1) + .milliseconds(30 * number)
            let sent = propose(&core, at: now)
            try #require(sent.map(\.to) == [first])
            #expect(reply(&core, sent[0], at: now + .milliseconds(5)).isEmpty)
            guard case .primary(let primary) = core.role else { return }
            #expect(primary.committed == position.number + UInt64(number), "the answer of one is enough")
        }
        #expect(tick(&core, at: .milliseconds(1_199)).isEmpty)
        let sent = tick(&core, at: .milliseconds(1_200))
        #expect(sent.map(\.to) == [second])
        #expect(sent.first?.batches.count == 5)
    }

    @Test func `the other standby is not left so far behind that it would need a whole copy`() throws {
        var core = try primary()
        var sent: [Call] = []
        while sent.isEmpty, core.record.position?.number ?? 0 < 500 {
            for call in propose(&core, at: .seconds(1)) {
                if call.to == second { sent.append(call) } else { sent += reply(&core, call, at: .seconds(1)) }
            }
        }
        #expect(sent.first?.batches.count == RecentBatches<SimulatedContent>.limit.batches / 4)
    }

    @Test func `where the first standby does not answer, the other one gets each batch`() throws {
        var core = try primary()
        let sent = propose(&core, at: .seconds(1.01))
        try #require(sent.map(\.to) == [first])
        #expect(tick(&core, at: .seconds(1.05)).isEmpty)
        let other = tick(&core, at: .seconds(1.11))
        try #require(other.map(\.to) == [second])
        #expect(reply(&core, other[0], at: .seconds(1.12)).isEmpty)
        let next = propose(&core, at: .seconds(1.13))
        try #require(next.map(\.to) == [second])
        // A call that has failed is made again, and nothing waits for it until it has an answer.
        let again = calls(core.at(.seconds(1.4)) { $0.failed(to: sent[0].to, call: sent[0].number) })
        #expect(again.isEmpty)
        #expect(reply(&core, next[0], at: .seconds(1.4)).map(\.to) == [first])
        #expect(propose(&core, at: .seconds(1.41)).map(\.to) == [second])
    }

    @Test func `the standby that stores much faster gets each batch`() throws {
        var core = try primary()
        for call in propose(&core, at: .seconds(1.25)).reversed() {
            _ = reply(&core, call, at: .seconds(1.25) + .milliseconds(call.to == first ? 50 : 5))
        }
        #expect(propose(&core, at: .seconds(1.31)).map(\.to) == [second])
    }

    @Test func `members that change get every batch, and the batch that changes them`() throws {
        var core = try primary()
        core.record.set.former = [own, first, ReplicaID(rawValue: 4)]
        #expect(propose(&core, at: .seconds(1.01)).map(\.to) == [first, second])
    }

    @Test func `a copy without a vote gets many batches at a time, one that is to have a vote each at once`() throws {
        var two = try primary(members: [own], copies: 1)
        #expect(propose(&two, at: .seconds(1.01)).isEmpty)
        #expect(tick(&two, at: .milliseconds(1_200)).map(\.to) == [first])

        var three = try primary(members: [own], copies: 2)
        #expect(propose(&three, at: .seconds(1.01)).map(\.to) == [first, second])
    }

    @Test func `which batch is the first one kept is known before they are appended`() {
        typealias Recent = RecentBatches<SimulatedContent>
        #expect(Recent().firstNumber(appending: []) == nil)
        var random = SplitMix64(seed: 1)
        let large = Recent.limit.bytes / 64
        for counts in [
            [1], [3, 1, 300], [1, large], [large, 1, 1], [large, large], [1, 1, large / 2, large / 2, 2],
        ] {
            var (recent, last) = (Recent(), position)
            for count in counts {
                // Many batches of one entry, or one of many.
                let size = count > 300 ? count : Int.random(in: 1...3, using: &random)
                let added = (0..<(count > 300 ? 1 : count)).map { _ in
                    let entries = [SimulatedContent.Entry](repeating: .deleted(job: 1), count: size)
                    let batch = LogBatch(after: last, term: 1, content: SimulatedContent(entries))
                    last = batch.position
                    return batch
                }
                let first = recent.firstNumber(appending: added)
                for batch in added { recent.append(batch) }
                #expect(first == recent.batches.first?.position.number)
            }
        }
    }

    @Test func `a standby that has more than a candidate stands at once`() {
        let stranger = ReplicaID(rawValue: 4)
        for (isAhead, candidate) in [(false, second), (true, second), (true, stranger)] {
            var core = core(promisedTo: first)
            core.primary = first
            core.record.set.members = [first, second, own]
            _ = core.at(.seconds(5)) { $0.tick(available: []) }
            #expect(core.tickPause == .milliseconds(100))
            let less = LogPosition(term: 1, number: isAhead ? 6 : 7, hash: 98)
            let request = PromiseRequest(term: 2, candidate: candidate, position: less, isTrial: true)
            _ = core.at(.seconds(5.05)) { $0.receive(.promise(request), ticket: 1) }
            _ = core.at(.seconds(5.1)) { $0.tick(available: []) }
            let stands = if case .candidate = core.role { true } else { false }
            #expect(stands == (isAhead && candidate != stranger), "one that is no member changes nothing")
        }
    }

    /// A primary hands its jobs on and removes itself. Where it ends before a member has that batch, and a third copy is lost, it alone
    /// can give it to that member.
    @Test func `one that was removed stands for a member that lacks the batch that says so`() {
        for isMember in [true, false] {
            var core = core(promisedTo: second, members: [first])
            let candidate = isMember ? first : second
            let less = LogPosition(term: 1, number: 6, hash: 98)
            let request = PromiseRequest(term: 2, candidate: candidate, position: less, isTrial: true)
            _ = core.at(.seconds(5)) { $0.receive(.promise(request), ticket: 1) }
            let sent = core.at(.seconds(12)) { $0.tick(available: []) }
            let stands = if case .candidate = core.role { true } else { false }
            #expect(stands == isMember)
            for case .send(_, first, let call) in sent where isMember {
                let reply = ReplicaReply(promised: 1, position: less, isGranted: true)
                let outputs = core.at(.seconds(12)) { $0.replied(reply, from: first, call: call) }
                #expect(outputs.contains { if case .write(.promise(_, own)) = $0 { true } else { false } })
            }
        }
    }
}
