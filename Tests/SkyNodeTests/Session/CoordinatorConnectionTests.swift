import NIOConcurrencyHelpers
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// The connection from a command to its coordinator, when it is lost and when it comes back.
struct CoordinatorConnectionTests {
    private func node(_ name: String) throws -> Node {
        try Node(
            NodeSettings(cluster: ClusterSettings(name: name), slots: 1, executable: "/nonexistent/skynode"),
            journal: try Journal.inMemory())
    }

    /// A connection whose words are kept.
    private func reach(
        _ coordinator: Coordinator, patience: Duration, _ log: NIOLockedValueBox<[String]>,
        redial: CoordinatorConnection.Redial?
    ) -> CoordinatorConnection {
        let reach = CoordinatorConnection(coordinator, patience: patience, redial: redial)
        var terminal = ProgressDisplay.Terminal(isLive: false)
        terminal.say = { line in log.withLockedValue { $0.append(line) } }
        reach.speak(through: ProgressDisplay(.problems, terminal: terminal))
        return reach
    }

    /// A call that fails the first time, and answers with 7 from then on.
    private func failing(_ error: any Error & Sendable, _ tries: NIOLockedValueBox<Int>)
        -> @Sendable (Coordinator) throws -> Int
    {
        { _ in
            let isFirst = tries.withLockedValue { tries in
                tries += 1
                return tries == 1
            }
            if isFirst { throw error }
            return 7
        }
    }

    @Test(
        arguments: [
            TransportError.connectionLost(mayHaveRun: true), RemoteError(.leaving, "it stops"),
            RemoteError(.noSuchActor, "it starts"),
        ] as [any Error])
    func `a call goes on with a restarted node, and a message says so`(loss: any Error) async throws {
        let (old, new) = (try node("old"), try node("new"))
        let log = NIOLockedValueBox<[String]>([])
        let reach = reach(old.coordinator, patience: .seconds(60), log) { [new] _, _ in new.coordinator }
        let found = try await reach.call { coordinator in
            if coordinator.id == old.coordinator.id { throw loss }
            return coordinator.id
        }
        #expect(found == new.coordinator.id)
        #expect(await reach.restarts == 1, "its jobs have a new history")
        let lines = log.withLockedValue { $0 }
        #expect(lines.count == 2 && lines.last == "skynode: old was lost; new answers in its place", "\(lines)")
        let isUnopened = (loss as? RemoteError)?.kind == .noSuchActor
        let words =
            isUnopened ? "skynode: the node does not take or show jobs now" : "skynode: the link to the node was lost ("
        #expect(lines.first?.hasPrefix(words) == true)
        #expect(lines.first?.hasSuffix("trying again for 60 s at most. Ctrl-C ends this, not the job") == true)
    }

    @Test func `the node that goes on with a job is named, and one that is started again is back`() async throws {
        for (answers, words) in [
            (["pc1", "pc3"], "skynode: pc1 was lost; pc3 goes on with the job"),
            (["pc1", "pc1"], "skynode: the node is back"),
            (["pc2", "pc2"], "skynode: the node is back"), (["pc2", "pc3"], "skynode: pc3 goes on with the job"),
        ] {
            let (old, new) = (try node("pc1"), try node("pc1"))
            let log = NIOLockedValueBox<[String]>([])
            let reach = reach(old.coordinator, patience: .seconds(60), log) { [new] _, _ in new.coordinator }
            let owners = NIOLockedValueBox(answers)
            let tries = NIOLockedValueBox(0)
            for _ in 0..<2 {
                _ = try await reach.call(aboutKnownJob: true, owner: { $0 }) { coordinator in
                    let number = tries.withLockedValue { tries in
                        tries += 1
                        return tries
                    }
                    if number == 2 { throw TransportError.connectionLost(mayHaveRun: true) }
                    return owners.withLockedValue { $0.removeFirst() }
                }
            }
            #expect(log.withLockedValue { $0 }.last == words, "\(answers)")
        }
    }

    @Test func `while a node hangs, the others are asked beside it`() async throws {
        let (frozen, other) = (try node("frozen"), try node("other"))
        let log = NIOLockedValueBox<[String]>([])
        let reach = reach(frozen.coordinator, patience: .seconds(60), log) { _, mayMove in
            // It takes the connection, and then says nothing.
            if !mayMove { try await Task.sleep(for: .seconds(3600)) }
            return other.coordinator
        }
        let found = try await reach.call { coordinator in
            if coordinator.id == frozen.coordinator.id { throw TransportError.connectionLost(mayHaveRun: true) }
            return coordinator.id
        }
        #expect(found == other.coordinator.id, "long before the handshake is given up")
    }

    @Test func `what no node takes over by itself is waited for some seconds only, and a message says so`() async throws
    {
        let node = try node("one")
        let (log, tries) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .seconds(60), log) { known, _ in known }
        let unknown = JobUnknownNow(message: "9 jobs of pc3 wait for it: skynode jobs adopt pc3", needsWord: true)
        #expect(try await reach.call(failing(unknown, tries)) == 7)
        #expect(
            log.withLockedValue { $0 } == [
                "skynode: \(unknown.message); trying again for 10 s at most. Ctrl-C ends this, not the job"
            ])
        reach.giveUp()
        await #expect(throws: JobUnknownNow.self) { try await reach.call { _ in throw unknown } }
    }

    @Test func `a new link to the same node does not count as a restart`() async throws {
        let node = try node("one")
        let (log, tries) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .seconds(60), log) { known, _ in known }
        let answer = try await reach.call(failing(TransportError.notConnected(node.coordinator.id.node), tries))
        #expect(answer == 7 && tries.withLockedValue { $0 } == 2)
        #expect(await reach.restarts == 0)
    }

    @Test func `a node that is too slow once is asked again, and a message says so`() async throws {
        let node = try node("one")
        let (log, tries) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .seconds(60), log) { known, _ in known }
        let answer = try await reach.call(failing(TransportError.deadlineExceeded, tries))
        #expect(answer == 7 && tries.withLockedValue { $0 } == 2)
        #expect(
            log.withLockedValue { $0 } == [
                "skynode: the node gives no answer in time; trying again for 60 s at most. Ctrl-C ends this, not the job",
                "skynode: the node is back",
            ])
        // Whoever has stopped waiting does not wait for it once more.
        reach.giveUp()
        await #expect(throws: TransportError.deadlineExceeded) {
            try await reach.call { _ in throw TransportError.deadlineExceeded }
        }
    }

    @Test func `a job that is being taken over is waited for until the patience is over`() async throws {
        let node = try node("one")
        let (log, tries) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .milliseconds(100), log) { known, _ in known }
        let unopened = RemoteError(.failed, "\(RemoteError.unknownJob) 1\(RemoteError.unopenedJobs)")
        await #expect(throws: unopened) {
            try await reach.call { _ in
                tries.withLockedValue { $0 += 1 }
                throw unopened
            }
        }
        #expect(tries.withLockedValue { $0 } > 1)
    }

    @Test func `an error that is not a lost connection is thrown at once`() async throws {
        let node = try node("one")
        let log = NIOLockedValueBox<[String]>([])
        let reach = reach(node.coordinator, patience: .seconds(60), log) { _, _ in
            Issue.record("nothing was lost")
            return node.coordinator
        }
        await #expect(throws: RemoteError(.failed, "no such job")) {
            try await reach.call { _ in throw RemoteError(.failed, "no such job") }
        }
        #expect(log.withLockedValue { $0 }.isEmpty)
    }

    @Test func `a job that was there is waited for while no node has it, and another one is not`() async throws {
        let node = try node("one")
        let (log, tries) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .seconds(60), log) { _, _ in
            Issue.record("nothing was lost")
            return node.coordinator
        }
        let unknown = RemoteError(.failed, "there is no job 1")
        for isKnown in [true, false] {
            tries.withLockedValue { $0 = 0 }
            let answer = try? await reach.call(aboutKnownJob: isKnown, failing(unknown, tries))
            #expect(answer == (isKnown ? 7 : nil))
        }
        #expect(log.withLockedValue { $0 }.isEmpty)
    }

    @Test func `a lost connection is final with no patience or for a node in this process`() async throws {
        let node = try node("one")
        let log = NIOLockedValueBox<[String]>([])
        let embedded = CoordinatorConnection(node.coordinator, patience: .seconds(60))
        let impatient = reach(node.coordinator, patience: .zero, log) { known, _ in known }
        #expect(!embedded.isElsewhere && impatient.isElsewhere)
        for reach in [embedded, impatient] {
            await #expect(throws: TransportError.connectionLost(mayHaveRun: false)) {
                try await reach.call { _ in throw TransportError.connectionLost(mayHaveRun: false) }
            }
        }
        #expect(log.withLockedValue { $0 }.isEmpty)
    }

    @Test func `an interrupted command does not wait for its node`() async throws {
        let node = try node("one")
        let (log, dials) = (NIOLockedValueBox<[String]>([]), NIOLockedValueBox(0))
        let reach = reach(node.coordinator, patience: .seconds(3600), log) { _, _ in
            dials.withLockedValue { $0 += 1 }
            throw TransportError.notRunning
        }
        reach.giveUp()
        await #expect(throws: TransportError.connectionLost(mayHaveRun: true)) {
            try await reach.call { _ in throw TransportError.connectionLost(mayHaveRun: true) }
        }
        #expect(dials.withLockedValue { $0 } == 1)
    }
}
