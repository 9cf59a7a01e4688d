import Testing

@testable import SkyCore

/// What replicas decide of each other after a quiet time, in which they are called every ten seconds only.
struct QuietDecisionTests {
    private typealias Core = ReplicaCore<SimulatedContent>

    private let own = ReplicaID(rawValue: 1)
    private let left = ReplicaID(rawValue: 2)
    private let right = ReplicaID(rawValue: 3)
    private let start = LogPosition(term: 1, number: 7, hash: 99)

    /// Nothing has been stored for a minute, and the standbys were called some seconds ago.
    private func story() throws -> PrimaryStory {
        var story = PrimaryStory(own, [left, right], at: start, heedPauses: true)
        story.step { $0.begin() }
        story.wait(until: 60, available: [left, right])
        while try #require(story.follower(left)).lastHeard < story.core.now {
            story.wait(until: story.seconds + 0.1, available: [left, right])
        }
        story.seconds += 8
        #expect(try #require(story.follower(left)).pause == .seconds(9))
        return story
    }

    /// Its node is about to go, and one of the two standbys answers.
    private func leaving() throws -> PrimaryStory {
        var story = try story()
        story.answering = [left]
        story.step { $0.isLeaving = true }
        story.step { $0.stir() }
        return story
    }

    @Test func `what is stored after a quiet time has not waited since that began`() throws {
        var story = try story()
        let now = Duration.seconds(story.seconds)
        story.answering = []
        let head = try #require(story.core.record.position).number
        story.step { $0.propose(SimulatedContent([]), proposal: 1) }
        guard case .primary(let primary) = story.core.role else { throw CancellationError() }
        #expect(primary.committed == head && story.core.record.position?.number == head + 1)
        #expect(try #require(primary.headTimes.last(upTo: head)) == now)
    }

    @Test func `a standby that needs no call counts as there when others are called again`() throws {
        var story = try story()
        story.answering = []
        story.step { $0.stir() }
        story.step { $0.tick(available: [left, right]) }
        #expect(story.unanswered.keys.sorted() == [left, right], "they are called at once")
        for replica in [left, right] {
            #expect(try #require(story.follower(replica)).isInReach(story.core.policy, .seconds(story.seconds)))
        }
        // Not for ever.
        story.seconds += 5
        #expect(try !#require(story.follower(left)).isInReach(story.core.policy, .seconds(story.seconds)))
    }

    @Test func `a standby whose link is in doubt counts as there for a second`() throws {
        var story = try story()
        story.answering = []
        story.step { $0.doubted(left) }
        let (now, policy) = (story.seconds, story.core.policy)
        let doubted = try #require(story.follower(left))
        #expect(doubted.isInReach(policy, .seconds(now + 0.9)) && !doubted.isInReach(policy, .seconds(now + 1.1)))
        #expect(try #require(story.follower(right)).isInReach(policy, .seconds(now + 1.1)))
    }

    @Test func `a restarted standby takes nobody else's vote while the other one is asked`() throws {
        var story = try story()
        let goodbye = story.seconds
        story.answering = []
        story.step {
            $0.stir()
            $0.tick(available: [right], away: [left: .zero])
        }
        #expect(story.core.needs(left), "the other one has not been heard for eight seconds")
        story.wait(until: goodbye + 0.5, available: [right], away: [left: goodbye])
        #expect(story.sets.isEmpty)
        story.answerLate(right)
        #expect(!story.core.needs(left) && story.sets.isEmpty)
    }

    @Test func `a primary that goes waits for the slower of two standbys`() throws {
        var story = try leaving()
        let goodbye = story.seconds
        story.wait(until: goodbye + 0.5, available: [left, right])
        #expect(story.sets.isEmpty && story.core.needsSuccessor)
        story.answerLate(right)
        story.wait(until: goodbye + 1.5, available: [left, right])
        #expect(story.sets.isEmpty && !story.core.needsSuccessor, "the two decide by themselves")
    }

    @Test func `a primary that goes leaves its journal to the one that answers`() throws {
        var story = try leaving()
        let goodbye = story.seconds
        story.wait(until: goodbye + 1.5, available: [left, right])
        #expect(story.sets.first?.members == [left])
    }

    @Test func `a primary that was held up for a moment is not replaced when its link is well again`() {
        func standby() -> Core {
            var core = Core(
                own,
                record: ReplicaRecord(
                    promised: 1, promisedTo: left, position: start, set: ReplicaSet(members: [own, left, right])),
                recent: RecentBatches(), policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
            let append = AppendRequest<SimulatedContent>(
                term: 1, primary: left, previous: start, batches: [], head: start, pause: 9000)
            _ = core.at(.seconds(100)) { $0.receive(.append(append), ticket: 1) }
            return core
        }
        func stands(_ core: Core, at second: Double) -> Bool {
            var core = core
            return core.at(.seconds(second)) { $0.tick(available: []) }.contains {
                if case .send = $0 { true } else { false }
            }
        }
        var core = standby()
        _ = core.at(.seconds(103)) { $0.doubted(left) }
        #expect(!stands(core, at: 105.9) && stands(core, at: 106))
        _ = core.at(.seconds(104)) { $0.trusted(right) }
        #expect(stands(core, at: 106), "that is another one")
        _ = core.at(.seconds(104)) { $0.trusted(left) }
        #expect(!stands(core, at: 113.9) && stands(core, at: 114))
    }

    @Test func `an empty copy of which nobody wants to know is given up, and is kept while somebody may`() {
        var core = Core(
            own, record: ReplicaRecord(), recent: RecentBatches(), policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
        func isGivenUp(at second: Double) -> Bool {
            core.at(.seconds(second)) { $0.tick(available: []) }.contains {
                if case .close(.unneeded) = $0 { true } else { false }
            }
        }
        #expect(!isGivenUp(at: 11) && !isGivenUp(at: 590))
        #expect(isGivenUp(at: 611))
    }

    @Test func `one that has refused something is short of room for a while, also when it takes small things`() {
        var follower = Follower<SimulatedContent>(lastGranted: .zero, lastHeard: .zero)
        func heard(at second: Double, isFull: Bool) {
            follower.noteRoom(
                ReplicaReply(promised: 1, position: start, isGranted: !isFull, isFull: isFull), held: 1,
                at: .seconds(second))
        }
        heard(at: 1, isFull: false)
        #expect(follower.shortSince == nil)
        heard(at: 2, isFull: true)
        heard(at: 3, isFull: false)
        #expect(follower.shortSince == .seconds(2) && !follower.isFull)
        heard(at: 4, isFull: true)
        heard(at: 13, isFull: false)
        #expect(follower.shortSince == .seconds(2))
        heard(at: 14, isFull: false)
        #expect(follower.shortSince == nil)
    }

    @Test func `a primary that was frozen while it began does not begin with old answers`() throws {
        func stage(_ story: PrimaryStory) -> Primary<SimulatedContent>.Stage? {
            guard case .primary(let primary) = story.core.role else { return nil }
            return primary.stage
        }
        var story = PrimaryStory(own, [left, right], at: start, heedPauses: true)
        story.answering = []
        story.step { $0.begin() }
        story.step { $0.tick(available: [left, right]) }
        story.seconds += 2.9
        var late = story
        story.answerLate(left)
        #expect(stage(story) == .open)
        late.seconds += 0.2
        late.answerLate(left)
        #expect(stage(late) == .confirming && late.unanswered[left] != nil, "it is asked once more")
        late.answerLate(left)
        #expect(stage(late) == .open)
    }

    @Test func `a primary that was cut off while it began counts no old answers`() {
        let (third, fourth) = (ReplicaID(rawValue: 4), ReplicaID(rawValue: 5))
        func stage(_ story: PrimaryStory) -> Primary<SimulatedContent>.Stage? {
            guard case .primary(let primary) = story.core.role else { return nil }
            return primary.stage
        }
        var story = PrimaryStory(own, [left, right, third, fourth], at: start)
        story.answering = [left]
        story.step { $0.begin() }
        story.wait(until: 1, available: [left])
        // Left has what there is, and then this one hears nobody: the others may have another primary.
        story.answering = []
        story.wait(until: 10, available: [])
        story.answering = [right]
        story.wait(until: 11.5, available: [right])
        #expect(stage(story) == .confirming, "two of five have said so lately")
        story.answering = [left, right]
        story.wait(until: 13, available: [left, right])
        #expect(stage(story) == .open)
    }
}
