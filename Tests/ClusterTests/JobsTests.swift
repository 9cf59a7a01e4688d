import Foundation
import Glibc
import Testing

/// Jobs that are handed over and looked after later, and coordinators that are killed under them.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct JobsTests {
    /// The jobs that a node lists, by id.
    private func jobs(_ node: String) async throws -> [String: [String: Any]] {
        let list = try await Skynode.run("jobs", "--node", node, "--format", "json")
        var jobs: [String: [String: Any]] = [:]
        for line in list.output {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, let id = object["job"] as? String { jobs[id] = object }
        }
        return jobs
    }

    @Test func `a job that was handed over goes on, is listed, followed, cancelled and forgotten`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let node = cluster.addresses[0]
            func submit(_ options: String...) async throws -> String {
                let ended = try await Skynode.run(["simulate", "--node", node, "--detach"] + options)
                return try #require(ended.output.last, "\(ended.errors)")
            }
            let short = try await submit("--tasks", "20", "--duration", "20ms", "--token", "once")
            #expect(try await submit("--tasks", "20", "--duration", "20ms", "--token", "once") == short)
            let watched = try await Skynode.run("jobs", "watch", String(short.prefix(6)), "--node", node)
            #expect(watched.status == 0 && watched.output.first?.hasPrefix("20 of 20 tasks completed") == true)

            let long = try await submit("--tasks", "100", "--duration", "60s", "--priority", "5")
            #expect(try await jobs(node)[long]?["state"] as? String == "running")
            #expect(try await Skynode.run("jobs", "cancel", long, "--node", node).status == 0)
            let end = try await Skynode.run("jobs", "watch", long, "--node", node)
            #expect(end.status == 130)
            let shown = try await Skynode.run("jobs", "show", long, "--node", node)
            #expect(shown.output.contains("state      cancelled") && shown.output.contains("priority   5"))

            #expect(try await Skynode.run("jobs", "delete", short, "--node", node).status == 0)
            #expect(try await Set(jobs(node).keys) == [long])
            let gone = try await Skynode.run("jobs", "show", short, "--node", node)
            #expect(gone.status == 2 && gone.errors.last?.contains("there is no job \(short)") == true)
        }
    }

    @Test func `why a job is not done is explained`() async throws {
        try await RunningCluster.with(2, slots: 1) { cluster in
            let node = cluster.addresses[0]
            func why(_ options: String...) async throws -> [String] {
                let handed = try await Skynode.run(["simulate", "--node", node, "--detach"] + options)
                let job = try #require(handed.output.last, "\(handed.errors)")
                return try await Skynode.run("jobs", "why", job, "--node", node).output
            }
            let barred = try await why("--use-node", "nobody")
            #expect(barred.contains { $0.contains("20 tasks wait for a node that the job may use") }, "\(barred)")
            #expect(barred.contains { $0.contains("are in the cluster") && $0.hasSuffix("2") }, "\(barred)")
            let busy = try await why("--tasks", "3", "--duration", "60s", "--use-node", "node2")
            #expect(busy.contains { $0.contains("tasks wait for a slot") || $0.contains("1 task runs") }, "\(busy)")
            let unknown = try await Skynode.run("jobs", "why", "none", "--node", node)
            #expect(unknown.status == 2 && unknown.errors.count == 1)
        }
    }

    @Test func `a node that is drained gets nothing new until it is resumed`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let node = cluster.addresses[0]
            #expect(try await Skynode.run("nodes", "drain", "node2", "--node", node).status == 0)
            let alone = try await Skynode.run("simulate", "--node", node, "--tasks", "12", "--duration", "20ms")
            #expect(alone.output.count == 2 && alone.output.last?.contains("node1") == true, "\(alone.output)")
            #expect(try await Skynode.run("nodes", "resume", "node2", "--node", node).status == 0)
            let both = try await Skynode.run("simulate", "--node", node, "--tasks", "40", "--duration", "50ms")
            #expect(both.output.count == 3, "\(both.output)")
            let none = try await Skynode.run("nodes", "drain", "nobody", "--node", node)
            #expect(none.status == 2 && none.errors.last?.contains("there is no node nobody") == true)
        }
    }

    @Test func `a job is resumed where its coordinator was killed, and only what is missing is done`() async throws {
        let folder = try ScratchFolder()
        let port = Int.random(in: 20_000...30_000)
        func start(_ number: Int) throws -> RunningProcess {
            try RunningProcess(
                Skynode.path,
                [
                    "serve", "--name", "node\(number)", "--listen", "127.0.0.1:\(port + number)", "--slots", "2",
                    "--data", folder.file("data\(number)"), "--no-multicast", "--join",
                    "127.0.0.1:\(port + 3 - number)",
                ])
        }
        let node = "127.0.0.1:\(port + 1)"
        var nodes = [try start(1), try start(2)]
        defer { for process in nodes { process.send(SIGKILL) } }
        var submitted = try await Skynode.run("jobs", "--node", node)
        while submitted.status != 0 { submitted = try await Skynode.run("jobs", "--node", node) }
        submitted = try await Skynode.run(
            "simulate", "--node", node, "--tasks", "100", "--duration", "50ms", "--detach")
        let job = try #require(submitted.output.last)
        var completed = 0
        for _ in 1...3 {
            let before = completed
            // Where asking takes long they may all be done before the last kill.
            while completed < min(before + 10, 100) { completed = try await jobs(node)[job]?["completed"] as? Int ?? 0 }
            nodes[0].send(SIGKILL)
            _ = await nodes[0].end()
            nodes[0] = try start(1)
            var list = try await jobs(node)
            while list.isEmpty { list = try await jobs(node) }
            let resumed = list[job]?["completed"] as? Int ?? 0
            #expect(resumed >= completed, "what was told is stored")
            completed = resumed
        }
        let end = try await Skynode.run("jobs", "watch", job, "--node", node, "--format", "json")
        #expect(end.status == 0 && end.output.last?.contains("\"completed\":100") == true, "\(end.output.last ?? "")")
        #expect(end.output.count { $0.contains("\"event\":\"completed\"") } <= 100)
        nodes[0].send(SIGKILL)
        _ = await nodes[0].end()
        nodes[0] = try start(1)
        var list = try await jobs(node)
        while list.isEmpty { list = try await jobs(node) }
        let shares = list[job]?["nodes"] as? [String: Int] ?? [:]
        #expect(shares.values.reduce(0, +) == 100, "who did what is still known: \(shares)")
    }

    @Test func `a command goes on where its node was killed and is started again, and tells where it is not`()
        async throws
    {
        let folder = try ScratchFolder()
        let node = "127.0.0.1:\(Int.random(in: 20_000...30_000))"
        func start() async throws -> RunningProcess {
            let process = try RunningProcess(
                Skynode.path,
                ["serve", "--listen", node, "--slots", "2", "--data", folder.file("data"), "--no-multicast"])
            var lines = process.lines.makeAsyncIterator()
            _ = await lines.next()
            return process
        }
        func follow(_ options: String...) throws -> RunningProcess {
            let arguments = ["simulate", "--node", node, "--tasks", "60", "--duration", "100ms", "--format", "json"]
            return try RunningProcess(Skynode.path, arguments + options)
        }
        /// Waits for so many completed tasks.
        func completed(_ count: Int, _ lines: inout AsyncStream<String>.Iterator) async {
            var left = count
            while left > 0, let line = await lines.next() { if line.contains("\"completed\"") { left -= 1 } }
        }
        var daemon = try await start()
        defer { daemon.send(SIGKILL) }
        let patient = try follow()
        var lines = patient.lines.makeAsyncIterator()
        for _ in 0..<2 {
            await completed(10, &lines)
            daemon.send(SIGKILL)
            _ = await daemon.end()
            daemon = try await start()
        }
        let ended = await patient.end()
        #expect(ended.status == 0 && ended.output.last?.contains("\"completed\":60") == true, "\(ended.errors)")
        #expect(
            ended.errors.count { $0.contains("trying again") } == 2
                && ended.errors.count { $0.contains("is back") } == 2)
        #expect(ended.output.count { $0.contains("\"event\":\"completed\"") } <= 60, "nothing is told twice")

        let impatient = try follow("--reconnect-for", "1s")
        lines = impatient.lines.makeAsyncIterator()
        await completed(5, &lines)
        daemon.send(SIGKILL)
        _ = await daemon.end()
        let gone = await impatient.end()
        #expect(gone.status == 3 && gone.errors.last?.contains("skynode jobs watch") == true, "\(gone.errors)")
    }

    @Test func `a folder that another node uses, and one that holds no journal, are refused in one line`() async throws
    {
        let folder = try ScratchFolder()
        try Data("not a database, and quite long enough to look like a file".utf8)
            .write(to: URL(fileURLWithPath: folder.file("journal.sqlite")))
        let before = try folder.contents("journal.sqlite")
        let refused = try await Skynode.run("serve", "--listen", "127.0.0.1:0", "--no-multicast", "--data", folder.path)
        #expect(refused.status == 2 && refused.errors.count == 1, "\(refused.errors)")
        #expect(refused.errors.first?.contains("is not a journal") == true, "\(refused.errors)")
        #expect(try folder.contents("journal.sqlite") == before, "nothing was overwritten")

        try await RunningCluster.with(1, slots: 1, options: { _ in ["--data", folder.file("used")] }) { _ in
            let second = try await Skynode.run(
                "serve", "--listen", "127.0.0.1:0", "--no-multicast", "--data", folder.file("used"))
            #expect(second.status == 2 && second.errors.first?.contains("in use by another node") == true)
        }
    }
}
