import Foundation
import Glibc
import Testing

/// Daemons on this machine that find each other by multicast on `lo`, in a group of the test's own.
final class RunningCluster: Sendable {
    let nodes: [RunningProcess]
    let addresses: [String]
    let multicast: String
    /// The folder with the data folder of each node, by its name.
    let state: ScratchFolder

    /// Runs `body` with `count` daemons that know each other; ends them afterwards, whatever happened.
    ///
    /// - Parameters:
    ///   - slots: of each node; `nil` where the options say it.
    ///   - hidden: a folder that all daemons but the first find empty.
    ///   - keys: the options by which commands reach them.
    ///   - environment: variables of each daemon, as `NAME=value`.
    static func with(
        _ count: Int, slots: Int?, options: (Int) -> [String] = { _ in [] }, hidden: String? = nil, keys: [String] = [],
        environment: (Int) -> [String] = { _ in [] },
        _ body: (RunningCluster) async throws -> Void
    ) async throws {
        let multicast = group()
        var nodes: [RunningProcess] = []
        let state = try ScratchFolder()
        do {
            var addresses: [String] = []
            for number in 1...count {
                let (node, address) = try await start(
                    number, slots, multicast, state, options(number), hidden: number == 1 ? nil : hidden,
                    environment: environment(number))
                nodes.append(node)
                addresses.append(address)
            }
            let cluster = RunningCluster(
                nodes: nodes, addresses: addresses, multicast: multicast, state: state)
            try await untilKnown(count, at: addresses[0], keys)
            try await body(cluster)
        } catch {
            await RunningCluster.stop(nodes)
            throw error
        }
        await RunningCluster.stop(nodes)
    }

    /// A multicast group that no other test uses; printed, since it may be why a test is red.
    static func group() -> String {
        let group = "239.255.\(Int.random(in: 1...254)).\(Int.random(in: 1...254)):\(Int.random(in: 20_000...60_000))"
        print("multicast group \(group)")
        return group
    }

    /// Waits until a node lists so many nodes, itself among them.
    static func untilKnown(_ count: Int, at address: String, _ options: [String] = []) async throws {
        let watch = try RunningProcess(
            Skynode.path, ["nodes", "--watch", "--node", address, "--format", "json"] + options)
        let alarm = Task {
            try await Task.sleep(for: .seconds(60))
            watch.send(SIGKILL)
        }
        var known: Set<String> = []
        for await line in watch.lines {
            guard let report = ReportLine(line) else { continue }
            if ["lost", "left"].contains(report.event) { known.remove(report.id) } else { known.insert(report.id) }
            if known.count >= count { break }
        }
        alarm.cancel()
        watch.send(SIGKILL)
        let ended = await watch.end()
        if known.count < count { Issue.record("\(address) lists \(known.count) of \(count) nodes: \(ended.errors)") }
    }

    private struct ReportLine: Decodable {
        var event: String
        var id: String

        init?(_ line: String) {
            guard let report = try? JSONDecoder().decode(ReportLine.self, from: Data(line.utf8)) else { return nil }
            self = report
        }
    }

    static func start(
        _ number: Int, _ slots: Int?, _ multicast: String, _ state: ScratchFolder, _ options: [String],
        hidden: String? = nil, environment: [String] = []
    ) async throws -> (RunningProcess, String) {
        let arguments =
            [
                "serve", "--name", "node\(number)", "--listen", "127.0.0.1:0",
                "--multicast", multicast, "--data", state.file("node\(number)"),
            ] + (slots.map { ["--slots", "\($0)"] } ?? []) + options
        let node =
            if let hidden {
                try RunningProcess(
                    "/usr/bin/unshare", HiddenFolder.arguments(hidden) + [Skynode.path] + arguments)
            } else {
                try RunningProcess("/usr/bin/env", environment + [Skynode.path] + arguments)
            }
        var lines = node.lines.makeAsyncIterator()
        guard let address = await lines.next()?.split(separator: " ").last else {
            node.send(SIGKILL)
            throw CocoaError(.executableLoad)
        }
        return (node, String(address))
    }

    /// Runs `body` beside further nodes, which are started again whenever they end, as systemd would do; returns how often.
    func supervising(
        _ numbers: ClosedRange<Int>, slots: Int, options: [String], _ body: () async throws -> Void
    ) async throws -> Int {
        let state = try ScratchFolder()
        let multicast = multicast
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for number in numbers {
                group.addTask {
                    var starts = 0
                    while !Task.isCancelled {
                        let (node, _) = try await RunningCluster.start(number, slots, multicast, state, options)
                        starts += 1
                        await withTaskCancellationHandler {
                            _ = await node.end()
                        } onCancel: {
                            node.send(SIGKILL)
                        }
                    }
                    return starts - 1
                }
            }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            group.cancelAll()
            var restarts = 0
            while let ended = await group.nextResult() { restarts += (try? ended.get()) ?? 0 }
            try result.get()
            return restarts
        }
    }

    private init(nodes: [RunningProcess], addresses: [String], multicast: String, state: ScratchFolder) {
        self.state = state
        self.nodes = nodes
        self.addresses = addresses
        self.multicast = multicast
    }

    static func stop(_ nodes: [RunningProcess]) async {
        for node in nodes { node.send(SIGKILL) }
        for node in nodes { _ = await node.end() }
    }

    /// The children of a node: its worker processes.
    func workers(of node: Int) -> [pid_t] {
        let path = "/proc/\(nodes[node].pid)/task/\(nodes[node].pid)/children"
        // Threads other than the main one start workers, so every thread is asked.
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(nodes[node].pid)/task")) ?? []
        let files = [path] + tasks.map { "/proc/\(nodes[node].pid)/task/\($0)/children" }
        let text = Set(files).compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.joined(separator: " ")
        return Array(Set(text.split(separator: " ").compactMap { pid_t($0) }))
    }
}

/// One line of NDJSON.
struct EventLine: Decodable {
    var event: String
    var node: String?
    var task: String?
    var reason: String?
    /// Since the job's submission.
    var seconds: Double?
    var completed: Int?
    var failed: Int?
    var retried: Int?
    var scheduled: Int?
    var state: String?
    var nodes: [String: Int]?
    var cached: Int?

    init?(_ line: String) {
        guard let event = try? JSONDecoder().decode(EventLine.self, from: Data(line.utf8)) else { return nil }
        self = event
    }

    /// The first line of a process that is of one of these events; `nil` where it ends without.
    static func first(_ events: Set<String>, of process: RunningProcess) async -> EventLine? {
        for await line in process.lines {
            if let event = EventLine(line), events.contains(event.event) { return event }
        }
        return nil
    }

    /// The line of a job's end; lines about its files follow.
    static func end(of output: [String]) -> EventLine? {
        output.compactMap(EventLine.init).last { $0.event == "ended" }
    }
}
