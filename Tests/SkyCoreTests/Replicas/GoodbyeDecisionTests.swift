import Testing

@testable import SkyCore

/// What a primary decides when the nodes of members say goodbye, as values.
struct GoodbyeDecisionTests {
    private typealias Core = ReplicaCore<SimulatedContent>

    private let own = ReplicaID(rawValue: 1)
    private let left = ReplicaID(rawValue: 2)
    private let right = ReplicaID(rawValue: 3)
    private let start = LogPosition(term: 1, number: 7, hash: 99)

    private func story() -> PrimaryStory {
        var story = PrimaryStory(own, [left, right], at: start)
        story.step { $0.begin() }
        story.wait(until: 1, available: [left, right])
        return story
    }

    @Test func `a member that says goodbye keeps its vote while it may be restarted, and gives it back later`() {
        var story = story()
        story.answering = [right]
        story.wait(until: 10.5, available: [right], away: [left: 1])
        #expect(!story.core.needs(left) && story.sets.isEmpty)
        story.wait(until: 13, available: [right], away: [left: 1])
        #expect(story.sets == [ReplicaSet(members: [own], former: [own, left, right]), ReplicaSet(members: [own])])
    }

    @Test func `a member that goes when nothing could be decided without it waits until its vote is given back`() {
        var story = story()
        story.answering = [right]
        story.wait(until: 3, available: [right], away: [left: 1])
        #expect(story.core.needs(right))
        story.wait(until: 3.5, available: [], away: [left: 1, right: 3])
        #expect(story.core.record.set == ReplicaSet(members: [own]) && !story.core.needs(right))
    }

    @Test func `a member whose link was closed a moment ago is not counted on when another one goes`() {
        var story = story()
        story.wait(until: 1.2, available: [left, right])
        #expect(!story.core.needs(right))
        story.core.linked = [right]
        #expect(story.core.needs(right), "left was heard a moment ago, and was killed")
        story.core.linked = [left, right]
        #expect(!story.core.needs(right))
    }

    @Test func `a member that is lost without a goodbye keeps its vote`() {
        var story = story()
        story.answering = [right]
        story.wait(until: 100, available: [right])
        #expect(story.sets.isEmpty && story.core.record.set.members.count == 3)
    }

    @Test func `a goodbye frees the vote of a member that was lost before`() {
        var story = story()
        story.answering = [right]
        story.wait(until: 30, available: [right])
        story.wait(until: 31, available: [], away: [right: 30])
        #expect(story.core.record.set == ReplicaSet(members: [own]))
    }

    @Test func `nothing is given back without a majority of those that decide`() {
        var story = story()
        story.answering = []
        story.wait(until: 60, available: [], away: [left: 1, right: 1])
        #expect(story.core.record.set.everyone.count == 3)
    }

    @Test func `those that are back have votes again`() {
        var story = story()
        story.wait(until: 3, available: [], away: [left: 1, right: 1])
        #expect(story.core.record.set == ReplicaSet(members: [own]))
        story.wait(until: 6, available: [left, right])
        #expect(Set(story.core.record.set.members) == [own, left, right])
    }

    @Test func `a primary that goes last but one leaves its journal to the one that stays`() {
        var story = story()
        story.wait(until: 14, available: [right], away: [left: 1])
        #expect(story.core.record.set == ReplicaSet(members: [own]))
        story.step { $0.isLeaving = true }
        story.wait(until: 15, available: [right], away: [left: 1])
        #expect(story.sets.last == ReplicaSet(members: [right]))
        #expect(story.closure == .handedOver(to: right))
    }

    @Test func `a primary that goes leaves the others to decide where they can`() {
        var story = story()
        story.step { $0.isLeaving = true }
        story.wait(until: 5, available: [left, right])
        #expect(!story.core.needsSuccessor && story.sets.isEmpty && story.closure == nil)
    }

    @Test func `a primary that goes last keeps its journal, alone`() {
        var story = story()
        story.step { $0.isLeaving = true }
        story.wait(until: 5, available: [], away: [left: 1, right: 1])
        #expect(story.core.record.set == ReplicaSet(members: [own]) && story.closure == nil)
    }

    @Test func `a primary that was left alone lets nobody delete an old copy`() {
        var story = story()
        story.answering = [right]
        story.wait(until: 3, available: [right], away: [left: 1])
        story.wait(until: 3.5, available: [], away: [left: 1, right: 3])
        story.answering = []
        story.wait(until: 20, available: [], away: [left: 1, right: 3])
        #expect(story.core.record.set == ReplicaSet(members: [own]))
        #expect(story.core.dismissal(of: left, isEmpty: false) == nil)
        #expect(story.core.dismissal(of: left, isEmpty: true)?.isUnneeded == true)
        // Others have taken its place.
        let others = [4, 5].map { ReplicaID(rawValue: $0) }
        story.answering = Set(others)
        story.wait(until: 60, available: others, away: [left: 1, right: 3])
        #expect(story.core.record.set.members == [own] + others)
        #expect(story.core.dismissal(of: left, isEmpty: false)?.isUnneeded == true)
    }

    @Test func `nothing is left to members that were lost a moment ago`() {
        let others = (2...5).map { ReplicaID(rawValue: $0) }
        var story = PrimaryStory(own, others, at: start)
        story.step { $0.begin() }
        story.wait(until: 10.8, available: others, away: [:])
        story.answering = [others[3]]
        // The first has said goodbye, and the next two are lost just before its vote is given back.
        story.wait(until: 30, available: Array(others.dropFirst()), away: [others[0]: 1])
        #expect(story.sets.allSatisfy { ReplicaSet(members: $0.members).isQuorum([own, others[3]]) }, "\(story.sets)")
    }

    // MARK: - What was published last

    /// Two batches, of which the second gathers for the copy that is not waited for.
    private func publish(_ story: inout PrimaryStory) {
        for job in 1...2 as ClosedRange<UInt64> {
            story.step { $0.propose(SimulatedContent([.deleted(job: job)]), proposal: job) }
        }
    }

    private func lagging(_ story: PrimaryStory) -> ReplicaID? {
        [left, right].first { story.follower($0)?.acked != story.core.record.position?.number }
    }

    @Test func `a primary without jobs waits until all copies in reach have what was published`() {
        var story = story()
        publish(&story)
        #expect(lagging(story) != nil && story.core.isAhead(of: [left, right]) && !story.core.isAhead(of: []))
        story.wait(until: story.seconds + 0.5, available: [left, right])
        #expect(lagging(story) == nil && !story.core.isAhead(of: [left, right]))
    }

    @Test func `a copy whose node goes gets what was published before its goodbye, and need not wait for more`() throws
    {
        var story = story()
        publish(&story)
        let (going, goodbye) = (try #require(lagging(story)), story.seconds)
        let others = [left, right].filter { $0 != going }
        story.step { $0.tick(available: others, away: [going: .zero]) }
        #expect(story.core.needs(going))
        story.wait(until: goodbye + 0.5, available: others, away: [going: goodbye])
        #expect(lagging(story) == nil && !story.core.needs(going))
        publish(&story)
        #expect(lagging(story) == going && !story.core.needs(going))
    }

    @Test func `a copy without a vote whose node goes is told, too, and forgotten soon after`() {
        var story = PrimaryStory(own, [], at: start)
        story.answering = [left]
        story.step { $0.begin() }
        story.wait(until: 1, available: [left])
        publish(&story)
        let goodbye = story.seconds
        story.step { $0.tick(available: [], away: [left: .zero]) }
        #expect(story.core.needs(left))
        story.wait(until: goodbye + 0.5, available: [], away: [left: goodbye])
        #expect(story.follower(left) == nil && !story.core.needs(left))
        // One that is gone without an answer is not called for ever.
        story.wait(until: goodbye + 2, available: [left])
        story.answering = []
        publish(&story)
        let next = story.seconds + 0.001
        story.wait(until: next + 2, available: [], away: [left: next])
        #expect(story.follower(left) != nil && story.core.needs(left))
        story.wait(until: next + 11, available: [], away: [left: next])
        #expect(story.follower(left) == nil && !story.core.needs(left))
    }

    @Test func `a member that is dropped before it has what was published is told, too`() {
        var story = story()
        story.answering = [left]
        publish(&story)
        let goodbye = story.seconds + 4
        story.wait(until: goodbye + 1, available: [], away: [left: goodbye])
        #expect(story.core.record.set == ReplicaSet(members: [own]))
        #expect(story.follower(right) != nil && story.core.isAhead(of: [right]))
        story.answering = [right]
        story.wait(until: goodbye + 2, available: [], away: [left: goodbye])
        #expect(story.follower(right) == nil && !story.core.isAhead(of: [right]))
    }

    @Test func `one that was the primary a moment ago stays until it hears the next one`() {
        var story = story()
        story.step {
            let position = $0.record.position ?? start
            let request = PromiseRequest(
                term: 9, candidate: left, position: position, isTrial: false, isHandOver: true)
            $0.receive(.promise(request), ticket: 1)
        }
        #expect(!story.core.isPrimary && story.core.isAwaited(by: [right]) && !story.core.isAwaited(by: []))
        story.step {
            let head = LogPosition(term: 9, number: 8, hash: 5)
            let request = AppendRequest<SimulatedContent>(
                term: 9, primary: left, previous: head, batches: [], head: head, acked: [:])
            $0.receive(.append(request), ticket: 2)
        }
        #expect(!story.core.isAwaited(by: [right]))
    }

    @Test func `an old copy is given up where the members that it knows name a primary that it does not know`() {
        let primary = ReplicaID(rawValue: 9)
        let record = ReplicaRecord(
            promised: 2, promisedTo: left, position: start, set: ReplicaSet(members: [left, own, right]))
        var core = Core(
            own, record: record, recent: RecentBatches(), policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
        func called(_ outputs: [Core.Output]) -> [ReplicaID: UInt64] {
            outputs.reduce(into: [:]) { if case .send(.promise, let replica, let call) = $1 { $0[replica] = call } }
        }
        let asked = called(core.at(.seconds(20)) { $0.tick(available: []) })
        #expect(Set(asked.keys) == [left, right])
        let refusal = ReplicaReply(promised: 5, position: start, isGranted: false, primary: primary)
        let next = called(core.at(.seconds(20)) { $0.replied(refusal, from: left, call: asked[left] ?? 0) })
        #expect(Set(next.keys) == [primary])
        // One that is no member sends nobody further.
        let elsewhere = ReplicaReply(promised: 5, position: start, isGranted: false, primary: ReplicaID(rawValue: 8))
        #expect(
            called(core.at(.seconds(20)) { $0.replied(elsewhere, from: primary, call: next[primary] ?? 0) }).isEmpty)
        let dismissal = ReplicaReply(promised: 5, position: nil, isGranted: false, isUnneeded: true)
        let outputs = core.at(.seconds(20)) { $0.replied(dismissal, from: primary, call: next[primary] ?? 0) }
        #expect(outputs.contains { if case .close(.unneeded) = $0 { true } else { false } })
    }
}
