import ArgumentParser
import BenchmarkNodes
import CAllocationCount
import Foundation

/// Measures and prints.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "run", abstract: "Measure and print the table.")

    @Option(help: "Rounds, in each of which everybody has a turn with each load; the best of them is printed.")
    var rounds = 15

    @Option(help: "Seconds of one turn.")
    var seconds = 0.3

    @Flag(help: "Let the other end be a process of its own.")
    var processes = false

    @Flag(help: "Let the allocator keep released memory, for everybody; only of the process of this end.")
    var keepMemory = false

    @Option(help: "Only contestants whose name contains this, without regard to case.")
    var contestant: String?

    @Option(help: "Only one load: latency, throughput or bulk.")
    var load: LoadName?

    @Option(help: "Also write everything, each round included, to this file as JSON.")
    var json: String?

    @Flag(help: "Fail when a target is missed.")
    var check = false

    @Option(help: "Fail when a small call of our transport, one at a time, takes more allocations than this.")
    var allocationLimit: Double?

    enum LoadName: String, ExpressibleByArgument, CaseIterable {
        case latency, throughput, bulk
    }

    private var loads: [Load] {
        switch load {
        case .latency: [.latency]
        case .throughput: [.throughput]
        case .bulk: [.bulk]
        case nil: Load.all
        }
    }

    func validate() throws {
        guard rounds > 0, seconds > 0 else { throw ValidationError("rounds and seconds must be more than 0") }
    }

    func run() async throws {
        if keepMemory { allocation_keep() }
        let keyPath = FileManager.default.temporaryDirectory
            .appendingPathComponent("transport-benchmark-\(ProcessInfo.processInfo.processIdentifier).key").path
        if BenchmarkSecurity.isAvailable { try BenchmarkSecurity.writeKey(to: keyPath) }
        defer { try? FileManager.default.removeItem(atPath: keyPath) }
        let results = try await measure(keyPath: keyPath)
        print(Report(results: results).text)
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(results).write(to: URL(fileURLWithPath: json))
        }
        try judge(results)
    }

    private func measure(keyPath: String) async throws -> Results {
        let other = processes ? try OtherEnd.child(keyPath: keyPath) : try await OtherEnd.here(keyPath: keyPath)
        let contestants = try await Contestants(other.ports, keyPath: keyPath)
        let chosen = contestants.all.filter { one in
            contestant.map { one.name.range(of: $0, options: .caseInsensitive) != nil } ?? true
        }
        guard !chosen.isEmpty else { throw ValidationError("no contestant is named so") }
        var results = Results(
            twoProcesses: processes, secondsPerRound: seconds, processor: Processor.description)
        let rounds = Rounds(contestants: chosen, loads: loads, count: rounds, duration: .seconds(seconds)) { step in
            FileHandle.standardError.write(Data("\(step)\n".utf8))
        }
        try await rounds.run(into: &results)
        try await contestants.close()
        try await other.close()
        return results
    }

    /// - Throws: `ExitCode` where the results are not what was asked for.
    private func judge(_ results: Results) throws {
        let isMissed = Target.all.contains { $0.isMissed(in: results) } || AllocationTarget.isMissed(in: results)
        if check, isMissed { throw ExitCode.failure }
        if let allocationLimit, let allocations = results.row(Names.array, .latency)?.allocations,
            allocations > allocationLimit
        {
            print(
                String(format: "%.1f allocations per call, where at most %g are allowed", allocations, allocationLimit))
            throw ExitCode.failure
        }
    }
}
