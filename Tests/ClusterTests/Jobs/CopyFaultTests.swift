import Foundation
import Glibc
import Testing

/// Copies that fill what a node may hold, and copies that are damaged.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(4))))
struct CopyFaultTests {
    private struct Storage: Decodable {
        struct Copy: Decodable {
            var node: String?
            var behind: Int?
            var hasVote: Bool
            var wasDamaged: Bool?
        }

        var copies: [Copy]?
        var bytes: Int
        var limit: Int
        var damagedCopies: Int?
    }

    private struct Listed: Decodable {
        var job: String
        var state: String
    }

    private func storage(_ node: String) async throws -> Storage? {
        try await Skynode.run("jobs", "storage", "--format", "json", "--node", node).output.first
            .flatMap { try? JSONDecoder().decode(Storage.self, from: Data($0.utf8)) }
    }

    private func jobs(_ node: String) async throws -> [Listed] {
        try await Skynode.run("jobs", "--format", "json", "--node", node).output
            .compactMap { try? JSONDecoder().decode(Listed.self, from: Data($0.utf8)) }
    }

    private func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try await isSo() { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("not in time: \(what)")
    }

    private func untilCopied(_ node: String) async throws {
        try await until("two copies of what \(node) has") {
            try await storage(node)?.copies?.count(where: { $0.hasVote && $0.behind == 0 }) == 2
        }
    }

    @Test func `nodes whose limit is full of copies take jobs, list and delete them, also after a loss`() async throws {
        let limit = 2 << 20
        try await RunningCluster.with(
            3, slots: 2, options: { _ in ["--copies", "2", "--adopt-after", "3s", "--data-limit", "2M"] }
        ) { cluster in
            for node in cluster.addresses { try await untilCopied(node) }
            var last: [String] = []
            for _ in 0..<4 {
                last = []
                for node in cluster.addresses {
                    let done = try await Skynode.run(
                        "simulate", "--tasks", "2500", "--duration", "0s", "--node", node, "--detach")
                    #expect(done.status == 0, "\(done.errors)")
                    let job = try #require(done.output.last)
                    let watched = try await Skynode.run("jobs", "watch", job, "--node", node)
                    #expect(watched.status == 0, "\(watched.errors)")
                    last.append(job)
                }
            }
            for (node, job) in zip(cluster.addresses, last) {
                try await until("\(node) keeps within its share") {
                    guard let found = try await storage(node) else { return false }
                    return found.bytes <= found.limit && found.limit < limit
                }
                #expect(try await jobs(node).contains { $0.job == job && $0.state == "done" })
            }
            let lost = try await jobs(cluster.addresses[0]).map(\.job)
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            try FileManager.default.removeItem(atPath: cluster.state.file("node1"))
            let others = Array(cluster.addresses[1...])
            try await until("the jobs of the lost node are at another one") {
                var found: Set<String> = []
                for node in others { found.formUnion(try await jobs(node).map(\.job)) }
                return found.isSuperset(of: [last[0]])
            }
            #expect(lost.contains(last[0]))
            let at = try await jobs(others[0]).contains { $0.job == last[0] } ? others[0] : others[1]
            let deleted = try await Skynode.run("jobs", "delete", last[0], "--node", at)
            #expect(deleted.status == 0, "\(deleted.errors)")
        }
    }

    @Test func `a damaged copy is noticed at the start, and made anew`() async throws {
        let options = ["--copies", "2", "--adopt-after", "20s"]
        try await RunningCluster.with(3, slots: 1, options: { _ in options }) { cluster in
            let node = cluster.addresses[0]
            try await untilCopied(node)
            let done = try await Skynode.run("simulate", "--tasks", "50", "--duration", "1ms", "--node", node)
            #expect(done.status == 0)
            cluster.nodes[1].send(SIGKILL)
            _ = await cluster.nodes[1].end()
            let copies = cluster.state.file("node2") + "/copies"
            // Those of the other nodes may have been begun only.
            let folders = try FileManager.default.contentsOfDirectory(atPath: copies).filter {
                UInt64($0, radix: 16) != nil
                    && FileManager.default.fileExists(atPath: "\(copies)/\($0)/journal.sqlite")
            }
            #expect(!folders.isEmpty)
            for folder in folders {
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: "\(copies)/\(folder)/journal.sqlite"))
                try file.write(contentsOf: Data(count: 100))
                try file.close()
            }
            // These were begun and not finished.
            for name in ["00000000000000aa", "00000000000000ab"] {
                try FileManager.default.createDirectory(
                    atPath: "\(copies)/\(name)", withIntermediateDirectories: false)
            }
            try Data().write(to: URL(fileURLWithPath: "\(copies)/00000000000000aa/lock"))
            try Data(count: 5000).write(to: URL(fileURLWithPath: "\(copies)/00000000000000ab/next.sqlite"))
            let (again, address) = try await RunningCluster.start(
                2, 1, cluster.multicast, cluster.state, options)
            do {
                try await again.untilErrors { $0.contains { $0.contains("is damaged; it is set aside") } }
                try await untilCopied(node)
                #expect(try await storage(node)?.copies?.contains { $0.wasDamaged == true } == false)
                let lines = try await Skynode.run("jobs", "storage", "--node", address).output
                #expect(lines.contains { $0.contains("damaged since the node's start: \(folders.count)") }, "\(lines)")
                let names = try FileManager.default.contentsOfDirectory(atPath: copies)
                #expect(
                    names.contains { $0.hasPrefix("damaged-") } && !names.contains { $0.hasPrefix("00000000000000a") },
                    "\(names)")
            } catch {
                await RunningCluster.stop([again])
                throw error
            }
            await RunningCluster.stop([again])
        }
    }
}
