import Testing

@testable import SkyCore

/// What a primary decides when the nodes of members say goodbye, as values.
struct GoodbyeDecisionTests {
    private typealias Core = ReplicaCore<SimulatedContent>

    private let own = ReplicaID(rawValue: 1)
    private let left = ReplicaID(rawValue: 2)
    private let right = ReplicaID(rawValue: 3)
    private let start = LogPosition(term: 1, number: 7, hash: 99)

    /// A primary with two standbys that have everything and answer whatever they are sent.
    private struct Story {
        var core: Core
        /// Those that answer.
        var answering: Set<ReplicaID>
        var seconds = 0.0
        private(set) var sets: [ReplicaSet] = []
        private(set) var closure: ReplicaClosure?

        init(_ own: ReplicaID, _ others: [ReplicaID], at start: LogPosition) {
            core = Core(
                own,
                record: ReplicaRecord(
                    promised: 1, promisedTo: own, position: start, set: ReplicaSet(members: [own] + others)),
                recent: RecentBatches(), policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
            answering = Set(others)
        }

        mutating func step(_ event: (inout Core) -> Void) {
            var outputs = core.at(.seconds(seconds), event)
            while let output = outputs.first {
                outputs.removeFirst()
                switch output {
                case .write(let write):
                    if case .append(let batches, _, _) = write { sets += batches.compactMap(\.set) }
                    outputs += core.at(.seconds(seconds)) { $0.wrote(true) }
                case .send(.append(let request), let replica, let call) where answering.contains(replica):
                    let position = request.batches.last?.position ?? request.head
                    let reply = ReplicaReply(promised: 1, position: position, isGranted: true)
                    outputs += core.at(.seconds(seconds)) { $0.replied(reply, from: replica, call: call) }
                case .send(_, let replica, let call):
                    outputs += core.at(.seconds(seconds)) { $0.failed(to: replica, call: call) }
                case .close(let closure): self.closure = closure
                default: break
                }
            }
        }

        /// Time passes, with ticks ten times a second.
        mutating func wait(until end: Double, available: [ReplicaID], away: [ReplicaID: Double] = [:]) {
            while seconds < end {
                seconds += 0.1
                let now = seconds
                step { $0.tick(available: available, away: away.mapValues { .seconds(now - $0) }) }
            }
        }
    }

    private func story() -> Story {
        var story = Story(own, [left, right], at: start)
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
}
