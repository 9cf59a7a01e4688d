import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import SkyCore
import Transport
import UnixSignals

/// A node as a service: it starts, says where it listens, works until shutdown is asked for, and then lets its tasks end.
struct NodeService: Service {
    let node: Node
    let listen: NodeAddress
    /// What the operator is told about who can reach the node, once it listens.
    let notice: String?
    /// What answers HTTP; `nil` where nobody is to be answered by HTTP.
    let http: HTTPService?
    /// The service manager; `nil` where nobody watches over the node.
    let manager: ServiceManager?
    /// How long running tasks may go on when it is to stop.
    let grace: @Sendable () -> Duration
    /// Whether other nodes take the jobs over each time that it stops.
    let handsOver: @Sendable () -> Bool
    /// Reads the configuration once more.
    let reload: @Sendable (Node) async -> Void

    func run() async throws {
        do {
            let steps = NIOLockedValueBox<ContinuousClock.Instant?>(nil)
            try await node.start { [manager] words in
                // A manager that waits for a sign of life in vain ends the start, and the next start has as far to go.
                let isDue = steps.withLockedValue { last in
                    guard last.map({ $0.duration(to: .now) > NodeService.startInterval }) ?? true else { return false }
                    last = .now
                    return true
                }
                if isDue { manager?.notify(.status(words), .needs(NodeService.startPatience)) }
            }
        } catch {
            await node.system.shutdown()
            throw StartFailure.command(error, listen: listen)
        }
        Console.remark("skynode \(node.system.name) listening on \(node.system.listeningAddress ?? listen)")
        if let notice { node.system.logger.notice("\(notice)") }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                await node.run()
                return true
            }
            group.addTask {
                await untilStopped()
                return true
            }
            group.addTask {
                try await http?.run(node)
                return false
            }
            // The loop ends with the first of the first two tasks: the node only ends where it is told to.
            while let isEnd = try await group.next(), !isEnd {}
            group.cancelAll()
        }
    }

    /// Watches over the node until shutdown is asked for, and then until its tasks have ended; a second signal ends that.
    private func untilStopped() async {
        // A package that is upgraded or removed sends SIGUSR1 before it stops the node.
        let isGoing = NIOLockedValueBox(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch() }
            group.addTask { await followReloads() }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigusr1) {
                    isGoing.withLockedValue { $0 = true }
                    node.system.logger.notice("when this node stops, its jobs are handed over")
                }
            }
            // This throws when it is cancelled, which is a shutdown too.
            try? await gracefulShutdown()
            group.cancelAll()
        }
        manager?.notify(.stopping)
        guard !Task.isCancelled else { return }
        let handsOver = handsOver() || isGoing.withLockedValue { $0 }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if handsOver { await node.handOver() }
                await drain()
                manager?.notify(.needs(node.leavingTime + .seconds(5)))
                await node.leave()
            }
            group.addTask {
                // Some managers send the first signal twice, to a job and to its processes.
                let begun = ContinuousClock.now
                for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint)
                where !NodeService.isEcho(after: begun.duration(to: .now)) { return }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func drain() async {
        let grace = grace()
        await node.drain(atMost: grace) { running in
            guard running > 0 else { return }
            manager?.notify(.status("stopping: \(running) running, for \(grace) at most"), .needs(grace + .seconds(10)))
            node.system.logger.notice(
                "stopping; what runs may go on for a while",
                metadata: ["running": "\(running)", "grace": "\(grace)"])
        }
    }

    /// Tells the manager that the node is up, and from then on that it goes on working: a sign of life comes only when all of
    /// its parts have answered.
    private func watch() async {
        guard let manager else { return }
        var last = await node.health()
        manager.notify(.ready, .status(last.description))
        while true {
            let pause = last.isBusy ? NodeService.statusInterval : NodeService.idleStatusInterval
            do { try await Task.sleep(for: min(pause, manager.watchdog.map { $0 / 2 } ?? pause)) } catch { return }
            let health = await node.health()
            guard !Task.isCancelled else { return }
            if manager.watchdog != nil { manager.notify(.alive) }
            if health.description != last.description { manager.notify(.status(health.description)) }
            last = health
        }
    }

    /// How often a start that takes long reports how far it is, and how much longer it may take each time.
    private static let startInterval = Duration.seconds(1)
    private static let startPatience = Duration.seconds(60)
    /// Whether a second signal is the first once more: managers send both within milliseconds, and nobody presses Ctrl-C
    /// twice as fast as this.
    static func isEcho(after time: Duration) -> Bool { time < .milliseconds(100) }

    /// How often the status that `systemctl status` shows is checked, for a busy node and for an idle one. Each check wakes up all
    /// parts of the node.
    private static let statusInterval = Duration.seconds(5)
    private static let idleStatusInterval = Duration.seconds(15)

    private func followReloads() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) { await reload(node) }
    }
}
