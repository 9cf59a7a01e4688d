import Foundation
import Glibc
import Testing

/// The backup of docs/OPERATING.md, made and restored word by word.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(5))))
struct BackupTests {
    private struct Listed: Decodable {
        var job: String
        var state: String
        var completed: Int
    }

    /// The lines of the manual that make a backup, but for the folders.
    private static func script() throws -> String {
        let manual = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/OPERATING.md")
        let text = try String(contentsOf: manual, encoding: .utf8)
        let chapter = try #require(
            text.components(separatedBy: "### Backup\n").last?.components(separatedBy: "\n## ").first)
        let lines = chapter.split(separator: "\n").filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
        #expect(lines.first?.hasPrefix("from=") == true)
        return lines.dropFirst().joined(separator: "\n")
    }

    private func jobs(at nodes: [String]) async throws -> [Listed] {
        var jobs: [String: Listed] = [:]
        for node in nodes {
            let list = try await Skynode.run("jobs", "--format", "json", "--node", node)
            for line in list.output {
                if let job = try? JSONDecoder().decode(Listed.self, from: Data(line.utf8)) { jobs[job.job] = job }
            }
        }
        return Array(jobs.values)
    }

    private func until(_ nodes: [String], _ isRight: ([Listed]) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(90)
        var seen: [Listed] = []
        repeat {
            seen = try await jobs(at: nodes)
            if isRight(seen) { return }
            try await Task.sleep(for: .milliseconds(200))
        } while ContinuousClock.now < end
        Issue.record("the jobs are not as they are to be: \(seen)")
    }

    private func submit(_ tasks: Int, _ duration: String, to node: String) async throws -> String {
        let started = try await Skynode.run(
            "simulate", "--tasks", "\(tasks)", "--duration", duration, "--node", node, "--detach", "--format", "json")
        let line = try #require(started.output.first, "\(started.errors)")
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))["job"] ?? ""
    }

    @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "it needs Debian's sqlite3"), arguments: [1, 3, 5])
    func `what was backed up while the nodes ran goes on after all of them were lost`(count: Int) async throws {
        let script = try BackupTests.script()
        let backup = try ScratchFolder()
        let state = try ScratchFolder()
        let multicast = RunningCluster.group()
        var ended: [String] = []
        var going: [String] = []
        func start() async throws -> (nodes: [RunningProcess], addresses: [String]) {
            var (nodes, addresses): ([RunningProcess], [String]) = ([], [])
            for number in 1...count {
                let (node, address) = try await RunningCluster.start(
                    number, 1, multicast, state, ["--adopt-after", "3s"])
                nodes.append(node)
                addresses.append(address)
            }
            return (nodes, addresses)
        }
        let before = try await start()
        do {
            try await RunningCluster.untilKnown(count, at: before.addresses[0])
            for address in before.addresses {
                ended.append(try await submit(4, "1ms", to: address))
                going.append(try await submit(60, "300ms", to: address))
            }
            try await until(before.addresses) { jobs in
                jobs.count == 2 * count && jobs.filter { ended.contains($0.job) }.allSatisfy { $0.state == "done" }
                    && jobs.filter { going.contains($0.job) }.allSatisfy { $0.completed > 1 }
            }
            // Nodes are backed up one after the other, while they work.
            for number in 1...count {
                let (from, to) = (state.file("node\(number)"), backup.file("node\(number)"))
                let made = try await Skynode.shell("from='\(from)' to='\(to)'\n" + script)
                #expect(made.status == 0, "\(made.errors)")
                #expect(access(to + "/replicas.sqlite", R_OK) == 0)
            }
        } catch {
            await RunningCluster.stop(before.nodes)
            throw error
        }
        await RunningCluster.stop(before.nodes)
        for number in 1...count {
            try FileManager.default.removeItem(atPath: state.file("node\(number)"))
            try FileManager.default.copyItem(
                atPath: backup.file("node\(number)"), toPath: state.file("node\(number)"))
            chmod(state.file("node\(number)"), 0o700)
        }
        let after = try await start()
        do {
            try await until(after.addresses) { jobs in
                jobs.count == 2 * count
                    && jobs.allSatisfy { $0.state == "done" && [4, 60].contains($0.completed) }
            }
        } catch {
            await RunningCluster.stop(after.nodes)
            throw error
        }
        await RunningCluster.stop(after.nodes)
    }
}
