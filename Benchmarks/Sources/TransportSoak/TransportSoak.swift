import ArgumentParser
import BenchmarkNodes
import CAllocationCount
import Foundation
import NIOCore
import NIOPosix

@main struct TransportSoak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transport-soak",
        abstract: "Calls, reconnects and cancels for long, and looks whether anything is left behind.")

    @Option(help: "Calls.") var calls = 1_000_000
    @Option(help: "Clients that come, call once and go.") var reconnects = 10_000
    @Option(help: "Calls that are cancelled while the other side sleeps in them.") var cancellations = 1_000
    @Option(help: "Most that resident memory may grow in a phase, in KiB.") var memoryLimit = 4096
    @Option(help: "Most that the allocator's blocks in use may grow in a phase.") var blockLimit = 500

    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        var passed = try await soak("plain TCP", on: group, keyPath: nil)
        if BenchmarkSecurity.isAvailable {
            let keyPath = FileManager.default.temporaryDirectory
                .appendingPathComponent("transport-soak-\(ProcessInfo.processInfo.processIdentifier).key").path
            try BenchmarkSecurity.writeKey(to: keyPath)
            defer { try? FileManager.default.removeItem(atPath: keyPath) }
            passed = try await soak("TLS", on: group, keyPath: keyPath) && passed
        }
        try await group.shutdownGracefully()
        guard passed else { throw ExitCode.failure }
    }

    private func soak(_ title: String, on group: MultiThreadedEventLoopGroup, keyPath: String?) async throws -> Bool {
        let work = try await Work(on: group, keyPath: keyPath)
        print("\(title): warming up")
        try await work.calls(max(1, min(50_000, calls / 10)))
        try await work.reconnects(max(1, min(500, reconnects / 10)))
        try await work.cancellations(max(1, min(100, cancellations / 10)))
        allocation_count_start()
        let bounds = Bounds(memory: memoryLimit * 1024, blocks: blockLimit)
        let phases: [Phase] = [
            Phase(title: "calls", count: calls, run: work.calls),
            Phase(title: "reconnects", count: reconnects, run: work.reconnects),
            Phase(title: "cancellations", count: cancellations, run: work.cancellations),
        ]
        var passed = true
        for phase in phases { passed = try await phase.pass(work, bounds) && passed }
        _ = allocation_count_stop()
        await work.close()
        return passed
    }
}
