import NIOCore

@testable import SkyCore
@testable import SkyJobs
@testable import Transport

/// A node among coordinators that ask for anything, in any order and in other people's names. The target drives `WorkBook` as
/// `ScanActor` does.
enum WorkBookTarget: FuzzTarget {
    static let name = "workbook"
    static let limit = RunLimit.brief

    static func run(_ input: FuzzInput) {
        var node = HostileClients(input)
        for _ in 0..<96 where !node.input.isEmpty { node.step() }
        node.end()
    }

    static func seeds() -> [[UInt8]] {
        let work: [UInt8] = [0, 0, 0, 0, 3, 0, 1, 0, 0, 0, 5, 0, 2, 0, 0, 0, 3, 0, 0, 2, 0, 0, 0]
        return [work, work + work, (0..<64).map { $0 }, (0..<96).map { $0 &* 37 }]
    }
}

/// The node, and what its coordinators have asked for.
struct HostileClients {
    var input: FuzzInput
    private var book: WorkBook
    private var now: Duration = .zero
    /// Attempts under way in worker processes.
    private var started: Set<AttemptID> = []
    private var stopped: Set<AttemptID> = []

    private static let peers: [NodeID] = [1, 2, 3, .max].map { NodeID(rawValue: $0) }
    private static let slots = 4

    init(_ input: FuzzInput) {
        self.input = input
        book = WorkBook(slots: HostileClients.slots, leaseDuration: ScanActor.leaseDuration)
    }

    mutating func step() {
        switch input.byte() % 14 {
        case 0: reserve()
        case 1, 2, 3: assign()
        case 4, 5: collect()
        case 6, 7: finish()
        case 8: follow(book.linkLost(input.choice(of: HostileClients.peers), now: now))
        case 9: follow(book.left(input.choice(of: HostileClients.peers), now: now))
        case 10: follow(book.expire(now: now))
        case 11: pass()
        case 12: follow(book.setDraining(input.bool(), now: now))
        default: follow(book.setSlots(input.bool() ? HostileClients.slots : Int(input.hostileInteger()), now: now))
        }
        require(started.count == book.running, "what was started runs: \(started.count) and \(book.running)")
        require(book.free >= 0 && book.waiting >= 0 && book.resultBytes >= 0, "nothing is less than none")
        _ = book.nextExpiry
    }

    /// Ends everything, and checks that nothing is left.
    mutating func end() {
        let stopped = AttemptEnd<ByteBuffer>.failure(.refused(FailureReason("stopped")))
        for attempt in started { follow(book.recordEnd(of: attempt, stopped, .zero, now: now)) }
        for attempt in started { follow(book.recordEnd(of: attempt, stopped, .zero, now: now)) }
        now += WorkBook.retention * 2
        follow(book.expire(now: now))
        let fault = AttemptEnd<ByteBuffer>.failure(.fault(FailureReason("x")))
        while let attempt = started.popFirst() { follow(book.recordEnd(of: attempt, fault, .zero, now: now)) }
        require(book.waiting == 0 && !book.hasResults, "what nobody asks for is forgotten: \(book.waiting)")
        require(book.nextExpiry == nil, "nothing is left to expire")
    }

    private mutating func incarnation() -> CoordinatorIncarnation {
        let choice = input.byte()
        return CoordinatorIncarnation(
            CoordinatorID(rawValue: UInt64(choice & 3)),
            generation: choice < 200 ? UInt64(choice >> 2 & 1) + 1 : input.hostileUnsigned())
    }

    private mutating func peer(_ incarnation: CoordinatorIncarnation) -> NodeID {
        let choice = input.byte()
        // Most calls of a coordinator come from its own node.
        return choice < 200
            ? HostileClients.peers[Int(incarnation.coordinator.rawValue & 3)] : HostileClients.peers[Int(choice & 3)]
    }

    private mutating func attempt(_ incarnation: CoordinatorIncarnation) -> AttemptID {
        let choice = input.byte()
        return AttemptID(
            job: JobID(rawValue: UInt64(choice >> 6)), task: TaskID(Int(choice & 7)), number: Int(choice >> 3 & 3) + 1,
            generation: incarnation.generation)
    }

    private mutating func reserve() {
        let incarnation = incarnation()
        guard
            let request = input.hostile(
                ReserveRequest(
                    incarnation: incarnation, wanted: Int(input.byte() & 15), people: Int(input.byte() & 3) + 1)),
            (try? request.validate()) != nil
        else { return }
        guard
            let (lease, update) = try? book.reserve(
                request.wanted, people: request.people ?? 1, by: request.incarnation, from: peer(incarnation), now: now)
        else {
            return
        }
        require((try? lease.validate()) != nil, "a lease that a coordinator takes: \(lease)")
        follow(update)
    }

    private mutating func assign() {
        let incarnation = incarnation()
        var assignment = Assignment(incarnation: incarnation)
        let count = input.byte()
        for _ in 0..<count & 7 {
            let task = ScanTask(.simulate(Simulation(duration: .seconds(1))), label: "task")
            var request = RunRequest(attempt: attempt(incarnation), task: task, timeLimit: .seconds(600))
            request.receipt = UInt64(count)
            if count & 32 == 32, let other = input.hostile(request) { request = other }
            assignment.attempts.append(request)
        }
        for _ in 0..<count >> 6 { assignment.stop.append(attempt(incarnation)) }
        assignment.acknowledged = count & 16 == 16 ? input.hostileUnsigned() : UInt64(input.byte())
        guard (try? assignment.validate()) != nil,
            let update = try? book.assign(assignment, from: peer(incarnation), now: now)
        else { return }
        follow(update)
    }

    private mutating func collect() {
        let incarnation = incarnation()
        let sample = CollectRequest(
            incarnation: incarnation, received: UInt64(input.byte() & 15), acknowledged: UInt64(input.byte() & 15),
            fencingToken: 1,
            isFirst: input.bool())
        guard let request = input.hostile(sample), (try? request.validate()) != nil,
            let (reply, update) = try? book.collect(
                request, from: peer(incarnation), limit: input.bool() ? 0 : ScanActor.collectionLimit, now: now)
        else { return }
        do {
            try reply.validate()
        } catch {
            fatalError("does not hold: a coordinator takes what a node answers: \(error)")
        }
        follow(update)
    }

    private mutating func finish() {
        guard !started.isEmpty else { return }
        let running = started.sorted()
        let attempt = running[Int(input.byte()) % running.count]
        let outcome: AttemptOutcome =
            switch input.byte() & 3 {
            case 0: .done(ByteBuffer(bytes: input.take(8)))
            case 1: .fault(input.hostileText())
            case 2: .crash(input.hostileText())
            default: .badInput("no image")
            }
        started.remove(attempt)
        follow(book.recordEnd(of: attempt, outcome.end, .milliseconds(5), now: now))
    }

    private mutating func pass() {
        let choice = input.byte()
        now += choice & 1 == 0 ? .milliseconds(Int64(choice) * 20) : .seconds(Int64(choice))
        if choice & 2 == 2 { follow(book.expire(now: now)) }
    }

    /// Starts and stops processes, as `ScanActor` does.
    private mutating func follow(_ update: WorkBook.Update) {
        for attempt in update.stop { stopped.insert(attempt) }
        for request in update.start {
            require(started.insert(request.attempt).inserted, "an attempt is started once: \(request.attempt)")
        }
    }
}
