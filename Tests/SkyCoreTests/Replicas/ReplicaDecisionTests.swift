import Testing

@testable import SkyCore

/// What a person decides about a replica, and what one replica decides about another, as values.
struct ReplicaDecisionTests {
    private typealias Core = ReplicaCore<SimulatedContent>

    private let own = ReplicaID(rawValue: 1)
    private let others = [ReplicaID(rawValue: 2), ReplicaID(rawValue: 3)]
    private let position = LogPosition(term: 1, number: 7, hash: 99)

    /// A replica that has a copy with seven batches, of a journal with three members.
    private func core(promisedTo primary: ReplicaID, copies: Int = 2) -> Core {
        let record = ReplicaRecord(
            promised: 1, promisedTo: primary, position: position, set: ReplicaSet(members: [own] + others))
        return Core(
            own, record: record, recent: RecentBatches(), policy: CopyPolicy(copies: copies), seed: 1, now: .zero)
    }

    private func write(_ outputs: [Core.Output]) -> ReplicaWrite<SimulatedContent>? {
        for case .write(let write) in outputs { return write }
        return nil
    }

    private func opened(_ outputs: [Core.Output]) -> UInt64? {
        for case .open(let term) in outputs { return term }
        return nil
    }

    private func calls(_ outputs: [Core.Output]) -> [(ReplicaID, UInt64)] {
        outputs.compactMap { if case .send(_, let replica, let call) = $0 { (replica, call) } else { nil } }
    }

    /// The members that the batch of a write names.
    private func members(_ write: ReplicaWrite<SimulatedContent>?) -> [ReplicaID]? {
        guard case .append(let batches, _, _) = write else { return nil }
        return batches.first?.set?.members
    }

    /// A standby that was told to take over, and has asked the other members.
    private func adopting() throws -> (core: Core, term: UInt64, calls: [(ReplicaID, UInt64)]) {
        var core = core(promisedTo: others[0])
        guard case .promise(let term, own) = write(core.at(.seconds(4)) { $0.adopt() }) else {
            throw CancellationError()
        }
        let calls = calls(core.at(.seconds(4)) { $0.wrote(true) })
        try #require(calls.map(\.0) == others && core.isAdopting)
        return (core, term, calls)
    }

    @Test func `a standby takes over on a person's word where nobody in reach objects`() throws {
        var (core, term, calls) = try adopting()
        #expect(term > 1)
        let nothing = ReplicaReply(promised: 0, position: nil, isGranted: false)
        #expect(write(core.at(.seconds(5)) { $0.replied(nothing, from: others[0], call: calls[0].1) }) == nil)
        let first = write(core.at(.seconds(5)) { $0.failed(to: others[1], call: calls[1].1) })
        #expect(members(first) == [own])
        #expect(opened(core.at(.seconds(5)) { $0.wrote(true) }) == term)
    }

    @Test func `a standby takes over on a person's word where nobody answers in time`() throws {
        var (core, _, _) = try adopting()
        #expect(write(core.at(.seconds(4.9)) { $0.tick(available: []) }) == nil)
        #expect(members(write(core.at(.seconds(5)) { $0.tick(available: []) })) == [own])
    }

    @Test func `the promise of a member that had more does not count, until a primary is heard`() throws {
        var core = core(promisedTo: others[0])
        func hear(at time: Duration) {
            let request = AppendRequest<SimulatedContent>(
                term: 1, primary: others[0], previous: position, batches: [], head: position, acked: [others[1]: 7])
            _ = core.at(time) { $0.receive(.append(request), ticket: 1) }
        }
        hear(at: .seconds(1))
        var asked: [(ReplicaID, UInt64)] = []
        var time = Duration.seconds(1)
        while asked.isEmpty, time < .seconds(60) {
            time += .seconds(1)
            asked = calls(core.at(time) { $0.tick(available: []) })
        }
        let call = try #require(asked.first { $0.0 == others[1] }?.1)
        let older = LogPosition(term: 1, number: 5, hash: 98)
        _ = core.at(time) {
            $0.replied(ReplicaReply(promised: 1, position: older, isGranted: true), from: others[1], call: call)
        }
        #expect(core.forgetful == [others[1]])
        hear(at: time)
        #expect(core.forgetful.isEmpty)
    }

    @Test(arguments: [
        (
            ReplicaReply(
                promised: 1, position: LogPosition(term: 1, number: 9, hash: 1), isGranted: false, isAhead: true),
            AdoptionRefusal.Reason.hasMore
        ),
        (
            ReplicaReply(promised: 1 << 20, position: LogPosition(term: 1, number: 7, hash: 99), isGranted: false),
            .promised
        ),
        (
            ReplicaReply(promised: 1, position: LogPosition(term: 1, number: 7, hash: 99), isGranted: false),
            .hearsPrimary
        ),
    ])
    func `a standby does not take over on a person's word where another one objects`(
        reply: ReplicaReply, reason: AdoptionRefusal.Reason
    ) throws {
        var (core, _, calls) = try adopting()
        #expect(write(core.at(.seconds(4)) { $0.replied(reply, from: others[1], call: calls[1].1) }) == nil)
        #expect(!core.isPrimary && !core.isAdopting)
        #expect(core.adoptionRefusal == AdoptionRefusal(replica: others[1], reason: reason))
    }

    @Test func `of two standbys that are told to take over at the same time, one does`() throws {
        var (first, firstTerm, _) = try adopting()
        // The later term wins, whoever asks first.
        let request = PromiseRequest(
            term: firstTerm + 1, candidate: others[1], position: position, isTrial: false)
        #expect(write(first.at(.seconds(4)) { $0.receive(.promise(request), ticket: 1) }) != nil)
        _ = first.at(.seconds(4)) { $0.wrote(true) }
        #expect(!first.isPrimary && !first.isAdopting)
    }

    @Test func `one that has lost an election does not take the winner's batches for its own after a restart`() {
        var core = core(promisedTo: others[0])
        // It has promised the next term to itself, and somebody else has won it.
        core.record.promise(2, to: own)
        let batch = LogBatch<SimulatedContent>(after: position, term: 2, content: nil, set: nil)
        let append = AppendRequest<SimulatedContent>(
            term: 2, primary: others[1], previous: position, batches: [batch], head: batch.position)
        _ = core.at(.seconds(1)) { $0.receive(.append(append), ticket: 1) }
        _ = core.at(.seconds(1)) { $0.wrote(true) }
        #expect(core.record.position == batch.position)
        let again = Core(
            own, record: core.record, recent: core.recent, policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
        #expect(!again.isPrimary)
    }

    @Test func `a word that cannot be stored changes nothing`() {
        var core = core(promisedTo: others[0])
        _ = core.at(.seconds(1)) { $0.adopt() }
        #expect(write(core.at(.seconds(1)) { $0.wrote(false) }) == nil)
        #expect(!core.isPrimary && !core.isAdopting && core.record.promised == 1)
    }

    @Test func `the batch that begins an adopted journal is tried again until it is stored`() throws {
        var (core, term, _) = try adopting()
        _ = core.at(.seconds(5)) { $0.tick(available: []) }
        #expect(members(write(core.at(.seconds(5)) { $0.wrote(false) })) == [own])
        #expect(opened(core.at(.seconds(5)) { $0.wrote(true) }) == term)
    }

    @Test func `a primary without its standbys opens on a person's word, in its term`() {
        var core = core(promisedTo: own)
        #expect(core.isPrimary)
        #expect(opened(core.at(.seconds(9)) { $0.begin() }) == nil, "its standbys do not answer")
        #expect(members(write(core.at(.seconds(9)) { $0.continueWithoutStandbys() })) == [own])
        #expect(opened(core.at(.seconds(9)) { $0.wrote(true) }) == 1)
        // It has nobody to go on without any more.
        #expect(write(core.at(.seconds(9)) { $0.continueWithoutStandbys() }) == nil)
    }

    @Test func `members that could not be changed on a full disk are changed later`() {
        var core = core(promisedTo: own, copies: 0)
        _ = core.at(.seconds(1)) { $0.continueWithoutStandbys() }
        _ = core.at(.seconds(1)) { $0.wrote(false) }
        #expect(core.record.set.members.count == 3)
        #expect(members(write(core.at(.seconds(1)) { $0.continueWithoutStandbys() })) == [own])
    }

    @Test func `a primary hands over only to a standby that has everything and is in reach`() throws {
        var core = core(promisedTo: own)
        // Both standbys say that they have everything.
        let calls = calls(core.at(.seconds(1)) { $0.tick(available: others) })
        try #require(calls.count == 2)
        let reply = ReplicaReply(promised: 1, position: position, isGranted: true)
        let outputs = calls.flatMap { replica, call in
            core.at(.seconds(1)) { $0.replied(reply, from: replica, call: call) }
        }
        #expect(opened(outputs) == 1)
        #expect(write(core.at(.seconds(1)) { $0.handOver(to: []) }) == nil)
        guard case .promise(2, let standby) = write(core.at(.seconds(1)) { $0.handOver(to: [others[1]]) }) else {
            Issue.record("it does not promise the next term")
            return
        }
        #expect(standby == others[1])
        let last = core.at(.seconds(1)) { $0.wrote(true) }
        #expect(last.contains { if case .close(.handedOver) = $0 { true } else { false } })
    }

    @Test func `a member that is replaced hears of it only when it is committed`() throws {
        let (left, stays, new) = (others[0], others[1], ReplicaID(rawValue: 4))
        let changing = ReplicaSet(members: [own, stays, new], former: [own, left, stays])
        let record = ReplicaRecord(promised: 1, promisedTo: own, position: position, set: changing)
        var core = Core(
            own, record: record, recent: RecentBatches(), policy: CopyPolicy(copies: 2), seed: 1, now: .zero)
        var last = position
        // The members say that they have everything that they were sent, in the order of the arguments.
        func answer(_ calls: [(ReplicaID, UInt64)], at seconds: Int) -> [Core.Output] {
            calls.flatMap { replica, call in
                core.at(.seconds(seconds)) {
                    $0.replied(ReplicaReply(promised: 1, position: last, isGranted: true), from: replica, call: call)
                }
            }
        }
        let first = answer(calls(core.at(.seconds(1)) { $0.tick(available: [left, stays, new]) }), at: 1)
        #expect(opened(first) == 1)
        guard case .append(let batches, _, _) = write(first), let batch = batches.first else {
            Issue.record("the change does not end")
            return
        }
        #expect(batch.set == ReplicaSet(members: [own, stays, new]))
        last = batch.position
        let calls = calls(core.at(.seconds(1)) { $0.wrote(true) })
        #expect(calls.map(\.0) == [stays, new])
        #expect(self.calls(core.at(.seconds(2)) { $0.tick(available: [left, stays, new]) }).isEmpty)
        #expect(self.calls(answer([calls[0]], at: 2)).map(\.0).contains(left))
    }

    @Test func `a replica that has nothing to do is seldom woken, and in time for what it has to do`() {
        var standby = core(promisedTo: others[0])
        #expect(standby.tickPause == .seconds(5))
        _ = standby.at(.seconds(4.75)) { $0.tick(available: others) }
        #expect(standby.tickPause == .milliseconds(250), "its primary is lost after five seconds")
        _ = standby.at(.seconds(5)) { $0.tick(available: others) }
        #expect(standby.tickPause == .milliseconds(100), "it asks, or is about to")

        var primary = core(promisedTo: own)
        let calls = calls(primary.at(.seconds(1)) { $0.tick(available: others) })
        #expect(primary.tickPause == .milliseconds(100), "it does not know yet what they have")
        let reply = ReplicaReply(promised: 1, position: position, isGranted: true)
        for (replica, call) in calls {
            _ = primary.at(.seconds(1.5)) { $0.replied(reply, from: replica, call: call) }
        }
        #expect(primary.tickPause == .milliseconds(500))
        _ = primary.at(.seconds(1.75)) { $0.tick(available: others) }
        #expect(primary.tickPause == .milliseconds(250), "they are called once a second")
        _ = primary.at(.seconds(1.75)) { $0.propose(SimulatedContent([]), proposal: 1) }
        _ = primary.at(.seconds(1.75)) { $0.wrote(true) }
        #expect(primary.tickPause == .milliseconds(100), "they lack a batch")
        #expect(Core.first(own, policy: CopyPolicy(copies: 0), seed: 1, now: .zero).tickPause == .milliseconds(100))
    }

    /// The calls of a primary in so many seconds, with the pauses in them. Its standbys answer at once.
    private func pauses(
        _ core: inout Core, from first: Double, to last: Double, heedsPause: Bool?
    ) -> [(second: Double, pause: UInt64?)] {
        var made: [(second: Double, pause: UInt64?)] = []
        var second = first
        while second <= last {
            for case .send(.append(let request), let replica, let call) in core.at(
                .seconds(second), { $0.tick(available: others) })
            {
                made.append((second, request.pause))
                let reply = ReplicaReply(
                    promised: 1, position: core.record.position, isGranted: true, heedsPause: heedsPause)
                _ = core.at(.seconds(second)) { $0.replied(reply, from: replica, call: call) }
            }
            second += max(0.05, core.tickPause / .seconds(1))
        }
        return made
    }

    @Test func `a primary for which nothing happens calls seldom, and says so, until something happens`() {
        var core = core(promisedTo: own)
        let calls = pauses(&core, from: 1, to: 100, heedsPause: true)
        #expect(calls.filter { $0.second < 10 }.allSatisfy { $0.pause == nil })
        #expect(calls.filter { $0.second > 12 }.allSatisfy { $0.pause == 9000 })
        // Nobody is left longer without a call than it was told.
        for (call, next) in zip(calls, calls.dropFirst(2)) {
            #expect(next.second - call.second <= 1.3 + Double(call.pause ?? 0) / 1000, "after \(call)")
        }
        #expect(calls.count { $0.second > 20 } <= 18)
        _ = core.at(.seconds(101)) { $0.stir() }
        #expect(core.tickPause <= .seconds(1))
        #expect(pauses(&core, from: 101, to: 110, heedsPause: true).count >= 16)
        _ = core.at(.seconds(130)) { $0.propose(SimulatedContent([]), proposal: 1) }
        let sent = core.at(.seconds(130)) { $0.wrote(true) }
        for case .send(.append(let request), _, _) in sent { #expect(request.pause == nil) }
        #expect(!self.calls(sent).isEmpty)
    }

    @Test func `a standby of an older version is called as often as ever`() {
        var core = core(promisedTo: own)
        let calls = pauses(&core, from: 1, to: 60, heedsPause: nil)
        #expect(calls.allSatisfy { $0.pause == nil } && calls.count >= 2 * 55)
    }

    @Test func `a standby waits as long as its primary has said, but not when the link to it is in doubt`() {
        func standby(_ pause: UInt64?) -> Core {
            var core = core(promisedTo: others[0])
            let append = AppendRequest<SimulatedContent>(
                term: 1, primary: others[0], previous: position, batches: [], head: position, pause: pause)
            _ = core.at(.seconds(100)) { $0.receive(.append(append), ticket: 1) }
            return core
        }
        func stands(_ core: Core, at second: Double) -> Bool {
            var core = core
            return !calls(core.at(.seconds(second)) { $0.tick(available: []) }).isEmpty
        }
        #expect(!stands(standby(nil), at: 104.9) && stands(standby(nil), at: 105))
        #expect(!stands(standby(9000), at: 113.9) && stands(standby(9000), at: 114))
        #expect(standby(9000).tickPause == .seconds(14))
        #expect(!stands(standby(.max), at: 114.9) && stands(standby(.max), at: 115), "nobody waits for ever")
        var doubting = standby(9000)
        _ = doubting.at(.seconds(108)) { $0.doubted(others[1]) }
        #expect(!stands(doubting, at: 111), "that is another one")
        _ = doubting.at(.seconds(108)) { $0.doubted(others[0]) }
        #expect(!stands(doubting, at: 110.9) && stands(doubting, at: 111))
        // As after any silence.
        #expect(doubting.tickPause == .seconds(3))
    }

    @Test func `a replica that is no member asks whether the coordinator has ended, and stands never`() {
        for hasCopy in [true, false] {
            var core = core(promisedTo: others[0])
            core.record.set = ReplicaSet(members: hasCopy ? others : [])
            if !hasCopy { core.record.position = nil }
            core.primary = others[0]
            #expect(core.at(.seconds(9)) { $0.tick(available: others) }.isEmpty)
            let asked = calls(core.at(.seconds(10)) { $0.tick(available: others) })
            #expect(asked.map(\.0) == others, "those that it knows, and others in reach: these may know the primary")
            #expect(core.at(.seconds(11)) { $0.tick(available: others) }.isEmpty, "it has just asked")
            #expect(core.tickPause == .seconds(9))
            // A promise of all of them would not make it the primary.
            let granted = ReplicaReply(promised: 1, position: position, isGranted: true)
            for (replica, call) in asked {
                #expect(core.at(.seconds(11)) { $0.replied(granted, from: replica, call: call) }.isEmpty)
            }
            let again = calls(core.at(.seconds(20)) { $0.tick(available: others) })
            #expect(again.count == asked.count)
            let ended = ReplicaReply(promised: 0, position: nil, isGranted: false, hasEnded: true)
            let outputs = core.at(.seconds(20)) { $0.replied(ended, from: again[0].0, call: again[0].1) }
            #expect(outputs.contains { if case .close(.ended) = $0 { true } else { false } })
        }
    }

    @Test func `a replica that is no member asks nobody who is out of reach, and not all of many`() {
        var core = core(promisedTo: others[0])
        core.record.set = ReplicaSet(members: [others[0]])
        let many = (10..<60).map { ReplicaID(rawValue: $0) }
        let asked = calls(core.at(.seconds(10)) { $0.tick(available: many) }).map(\.0)
        #expect(asked.count == 9 && asked.contains(others[0]) && asked.allSatisfy { ([others[0]] + many).contains($0) })
        let next = calls(core.at(.seconds(20)) { $0.tick(available: many) }).map(\.0)
        #expect(next.count == 9 && next != asked, "others, the next time")
    }

    @Test func `a primary gives up the copy of one that is no member, and of nobody else`() throws {
        var primary = core(promisedTo: own)
        let reply = ReplicaReply(promised: 1, position: position, isGranted: true)
        for (replica, call) in calls(primary.at(.seconds(1)) { $0.tick(available: others) }) {
            _ = primary.at(.seconds(1)) { $0.replied(reply, from: replica, call: call) }
        }
        func answer(to replica: ReplicaID) -> ReplicaReply? {
            let request = PromiseRequest(term: 2, candidate: replica, position: position, isTrial: true)
            for case .answer(let reply, _) in primary.at(.seconds(2), { $0.receive(.promise(request), ticket: 1) }) {
                return reply
            }
            return nil
        }
        #expect(answer(to: others[0])?.isUnneeded == nil)
        let unneeded = try #require(answer(to: ReplicaID(rawValue: 4)))
        #expect(unneeded.isUnneeded == true && !unneeded.isGranted)

        for (promised, heard, isClosed) in [(1, 0, true), (2, 0, false), (1, 8, false)] as [(UInt64, Int, Bool)] {
            var former = core(promisedTo: others[0])
            former.record.promised = promised
            former.lastContact = .seconds(heard)
            let outputs = former.at(.seconds(10)) { $0.replied(unneeded, from: others[0], call: 1) }
            #expect(outputs.contains { if case .close(.unneeded) = $0 { true } else { false } } == isClosed)
        }
    }

    @Test func `a member without room for more gives way to one with room, after a minute`() {
        let (new, crowded) = (ReplicaID(rawValue: 4), ReplicaID(rawValue: 5))
        for isSpare in [true, false] {
            var core = core(promisedTo: own)
            (core.held, core.crowded) = (950, [crowded])
            let available = others + [crowded] + (isSpare ? [new] : [])
            for second in 1...70 {
                for (replica, call) in calls(core.at(.seconds(second)) { $0.tick(available: available) }) {
                    var reply = ReplicaReply(promised: 1, position: position, isGranted: true)
                    reply.share = replica == others[0] ? 1000 : 5000
                    _ = core.at(.seconds(second)) { $0.replied(reply, from: replica, call: call) }
                }
                guard case .primary(let primary) = core.role else {
                    Issue.record("it is not the primary")
                    return
                }
                if second == 30 {
                    #expect(primary.desired == others)
                    // Nothing is deleted for one that is to give way.
                    #expect(core.smallestShare?.bytes == (isSpare ? 5000 : 1000))
                }
                if second == 70 { #expect(primary.desired == (isSpare ? [new, others[1]] : others)) }
            }
        }
    }

    @Test func `no task waits for the room of a node that need not store what is decided`() {
        let (small, large) = (others[0], others[1])
        var story = PrimaryStory(own, others, at: position)
        story.answering = Set(others)
        story.shares = [small: 1000, large: 50_000]
        story.step { $0.begin() }
        func share(_ held: Int) -> (bytes: Int, isWish: Bool)? {
            story.core.held = held
            return story.core.smallestShare.map { ($0.bytes, $0.isWish) }
        }
        story.wait(until: 10, available: others)
        #expect(share(900)! == (1000, true) && share(3000)! == (1000, true), "what has ended is deleted for it")
        #expect(share(5000)! == (50_000, false), "of a journal that is much larger, it cannot have a copy")
        #expect(share(60_000)! == (50_000, false))
        // The large one is lost, and nothing is decided without the small one.
        story.answering = [small]
        story.wait(until: 40, available: [small])
        #expect(share(900)! == (1000, false) && share(5000)! == (1000, false))
    }

    @Test func `copies are begun where there is room, and one without a vote that finds none gives way`() throws {
        let (full, roomy) = ([2, 3].map { ReplicaID(rawValue: $0) }, [4, 5].map { ReplicaID(rawValue: $0) })
        var story = PrimaryStory(own, [], at: position)
        func desired() throws -> [ReplicaID] {
            guard case .primary(let primary) = story.core.role else { throw CancellationError() }
            return primary.desired
        }
        story.answering = Set(full + roomy)
        story.shares = [full[0]: 1000, full[1]: 1000, roomy[0]: 5000, roomy[1]: 5000]
        story.core.held = 990
        story.step { $0.begin() }
        // Nobody else is there: what is over the share, and a little more, is deleted, so that there is a copy with a vote some time.
        story.wait(until: 30, available: full)
        #expect(try desired() == full && story.core.record.set.members == [own])
        #expect(story.core.smallestShare?.bytes == 938 && story.core.smallestShare?.isWish == true)
        // Of a newcomer with next to no room nothing is made to depend.
        story.shares[full[0]] = 100
        story.wait(until: 40, available: full)
        #expect(story.core.smallestShare?.bytes == 938)
        // Those with room are here.
        story.core.crowded = Set(full)
        story.wait(until: 100, available: full + roomy)
        #expect(try desired() == roomy && story.core.record.set.members == [own] + roomy)
        #expect(story.core.smallestShare?.bytes == 5000)
        // And from the beginning.
        var other = PrimaryStory(own, [], at: position)
        (other.answering, other.shares, other.core.crowded) = (story.answering, story.shares, Set(full))
        other.step { $0.begin() }
        other.wait(until: 10, available: full + roomy)
        #expect(other.core.record.set.members == [own] + roomy)
    }

    @Test func `a copy without a vote has one when the journal fits in its share`() {
        let others = [2, 3].map { ReplicaID(rawValue: $0) }
        var story = PrimaryStory(own, [], at: position)
        story.answering = Set(others)
        story.shares = [others[0]: 1000, others[1]: 2000]
        story.core.held = 990
        story.step { $0.begin() }
        story.wait(until: 30, available: others)
        #expect(story.core.record.set.members == [own])
        story.core.held = story.core.smallestShare?.bytes ?? 0
        story.wait(until: 40, available: others)
        #expect(story.core.record.set.members == [own] + others)
    }

    @Test func `it is known since when a copy lacks something`() {
        var times = HeadTimes()
        for second in 0..<10 { times.note(UInt64(second / 3), at: .seconds(second)) }
        #expect(times.last(upTo: 3) == .seconds(9))
        #expect(times.last(upTo: 1) == .seconds(5), "batch 2 came at the sixth second")
        for second in 10..<2000 { times.note(UInt64(second), at: .seconds(second)) }
        #expect(times.last(upTo: 100) == nil, "that is longer ago than is known")
    }
}
