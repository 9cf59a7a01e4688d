import Foundation
import Glibc
import Testing

/// Jobs that are detached and followed later, and coordinators that are killed meanwhile.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3))))
struct JobsTests {
    /// The jobs that a node lists, by id.
    private func jobs(_ node: String) async throws -> [String: [String: Any]] {
        let list = try await Skynode.run("jobs", "--here", "--node", node, "--format", "json")
        var jobs: [String: [String: Any]] = [:]
        for line in list.output {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, let id = object["job"] as? String { jobs[id] = object }
        }
        return jobs
    }

    @Test func `a detached job goes on, and is listed, followed, cancelled and deleted`() async throws {
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
            let again = try await Skynode.run("jobs", "cancel", long, "--node", node)
            #expect(again.status == 0 && again.output == ["job \(long) had ended before: cancelled"])
            let named = try await Skynode.shell("SKYNODE_NODE=\(node) \"$0\" jobs \(long.prefix(8))")
            #expect(named.output.first == "job        \(long)", "\(named.errors)")
            let shown = try await Skynode.run("jobs", "show", long, "--node", node)
            #expect(shown.output.contains("state      cancelled") && shown.output.contains("priority   5"))

            #expect(try await Skynode.run("jobs", "delete", short, "--node", node).status == 0)
            #expect(try await Set(jobs(node).keys) == [long])
            let gone = try await Skynode.run("jobs", "show", short, "--node", node)
            #expect(gone.status == 2 && gone.errors.last?.contains("there is no job \(short)") == true)
            #expect(gone.errors.last?.contains("the only one is \(long)") == true, "\(gone.errors)")

            let others = [
                try await submit("--tasks", "1", "--duration", "1ms"),
                try await submit("--tasks", "1", "--duration", "1ms"),
            ]
            for job in others { #expect(try await Skynode.run("jobs", "watch", job, "--node", node).status == 0) }
            let done = try await Skynode.run(
                "jobs", "--state", "done", "--limit", "1", "--format", "json", "--node", node)
            #expect(done.output.count == 1 && done.output[0].contains(others[1]))
            let missing = try await Skynode.run("jobs", "delete", others[0], "none", "--node", node)
            #expect(missing.status == 2 && missing.output.isEmpty, "all or none")
            let deleted = try await Skynode.run("jobs", "delete", "--done", "--node", node)
            #expect(deleted.output == others.map { "deleted job \($0) (1 simulated tasks)" })
            #expect(try await Skynode.run("jobs", "delete", "--older", "7d", "--node", node).output.count == 1)
            #expect(try await Set(jobs(node).keys) == [long], "it is not a week old")
        }
    }

    @Test func `the program explains why a job is not done`() async throws {
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

    @Test func `the jobs of all nodes are listed, each with its node, and all nodes are drained`() async throws {
        try await RunningCluster.with(3, slots: 1, options: { _ in ["--copies", "0"] }) { cluster in
            var submitted: [String: String] = [:]
            for number in 0..<2 {
                let ended = try await Skynode.run(
                    "simulate", "--node", cluster.addresses[number], "--tasks", "1", "--duration", "1ms", "--detach")
                submitted[try #require(ended.output.last)] = "node\(number + 1)"
            }
            let asked = cluster.addresses[2]
            #expect(try await jobs(asked).isEmpty, "it has none of its own")
            let all = try await Skynode.run("jobs", "--node", asked, "--format", "json")
            #expect(all.status == 0 && all.output.count == 2, "\(all.errors)")
            for (job, node) in submitted {
                #expect(
                    all.output.contains {
                        $0.contains("\"job\":\"\(job)\"") && $0.contains("\"coordinator\":\"\(node)\"")
                    })
            }
            let table = try await Skynode.run("jobs", "--all", "--node", asked)
            #expect(table.output.first?.contains("NODE") == true && table.output.count == 3, "\(table.output)")
            let newest = try await Skynode.run("jobs", "show", "@last", "--node", asked)
            #expect(newest.status == 0 && submitted[String(newest.output[0].suffix(16))] == "node2", "\(newest.output)")
            let here = try await Skynode.run("jobs", "show", "@last", "--here", "--node", asked)
            #expect(here.status == 2 && here.errors.last?.contains("this node has no jobs") == true, "\(here.errors)")
            // What is named by a rule is deleted at one node only, unless more is asked for.
            let kept = try await Skynode.run("jobs", "delete", "--done", "--node", asked)
            #expect(kept.status == 0 && kept.errors.last?.contains("2 such jobs of other nodes are kept") == true)

            for (word, state) in [("drain", "draining"), ("resume", "alive")] {
                let done = try await Skynode.run("nodes", word, "--all", "--node", asked)
                let past = word == "drain" ? "drained" : "resumed"
                #expect(done.status == 0 && done.output == (1...3).map { "node\($0): \(past)" }, "\(done.output)")
                let nodes = try await Skynode.run("nodes", "--node", cluster.addresses[0], "--format", "json")
                #expect(nodes.output.count { $0.contains("\"state\":\"\(state)\"") } == 3, "\(nodes.output)")
            }

            // A node that does not answer is named, and does not delay the command for long.
            cluster.nodes[1].send(SIGSTOP)
            let partial = try await Skynode.run("jobs", "--node", asked, "--format", "json")
            cluster.nodes[1].send(SIGCONT)
            // If it has been found lost meanwhile, it is no longer in the cluster.
            if partial.status != 0 {
                #expect(
                    partial.status == 3 && partial.errors.last?.contains("the jobs of node2 are missing") == true,
                    "\(partial.errors)")
            }
            #expect(partial.output.contains { $0.contains("\"coordinator\":\"node1\"") })
            if partial.status == 0 { return }
            try await RunningCluster.untilKnown(3, at: asked)
            let deleted = try await Skynode.run("jobs", "delete", "--done", "--all", "--node", asked)
            #expect(deleted.status == 0 && deleted.output.count == 2, "\(deleted.errors)")
        }
    }

    @Test func `a drained node gets no new work until it is resumed`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let node = cluster.addresses[0]
            let drained = try await Skynode.run("nodes", "drain", "node2", "--node", node)
            #expect(drained.status == 0 && drained.output == ["node2: drained"])
            let one = try await Skynode.run("nodes", "node2", "--node", node)
            #expect(one.output.first == "node        node2" && one.output.contains("state       draining"))
            let alone = try await Skynode.run("simulate", "--node", node, "--tasks", "12", "--duration", "20ms")
            #expect(alone.output.count == 2 && alone.output.last?.contains("node1") == true, "\(alone.output)")
            let waiting = try await Skynode.run(
                "simulate", "--node", node, "--tasks", "3", "--duration", "60s", "--use-node", "node1", "--detach")
            #expect(try await Skynode.run("nodes", "drain", "node1", "--node", node).status == 0)
            let why = try await Skynode.run("jobs", "why", try #require(waiting.output.last), "--node", node)
            let takers = why.output.first { $0.contains("take new work") }
            #expect(takers?.hasSuffix(" 0") == true, "the coordinator's own node is drained too: \(why.output)")
            #expect(try await Skynode.run("jobs", "cancel", waiting.output[0], "--node", node).status == 0)
            #expect(try await Skynode.run("nodes", "resume", "node1", "--node", node).status == 0)
            #expect(try await Skynode.run("nodes", "resume", "node2", "--node", node).status == 0)
            let both = try await Skynode.run("simulate", "--node", node, "--tasks", "40", "--duration", "50ms")
            #expect(both.output.count == 3, "\(both.output)")
            let none = try await Skynode.run("nodes", "drain", "nobody", "--node", node)
            #expect(none.status == 2 && none.errors.last?.contains("there is no node nobody") == true)
            #expect(none.errors.last?.hasSuffix("there are node1, node2") == true)
        }
    }

    @Test func `a job is resumed where its coordinator was killed, and only what is missing is done`() async throws {
        let folder = try ScratchFolder()
        /// Starts a node, on a port that is free; returns with its address once it listens.
        func start(_ number: Int, _ options: String...) async throws -> (process: RunningProcess, address: String) {
            let process = try RunningProcess(
                Skynode.path,
                [
                    "serve", "--name", "node\(number)", "--listen", "127.0.0.1:0", "--slots", "2", "--data",
                    folder.file("data\(number)"), "--no-multicast",
                ] + options)
            var lines = process.lines.makeAsyncIterator()
            return (process, try #require(await lines.next()?.split(separator: " ").last.map(String.init)))
        }
        let other = try await start(2)
        var node = try await start(1, "--join", other.address)
        defer { for process in [node.process, other.process] { process.send(SIGKILL) } }
        try await RunningCluster.untilKnown(2, at: node.address)
        let submitted = try await Skynode.run(
            "simulate", "--node", node.address, "--tasks", "100", "--duration", "50ms", "--detach")
        let job = try #require(submitted.output.last)
        var completed = 0
        for _ in 1...3 {
            let watch = try RunningProcess(
                Skynode.path, ["jobs", "watch", job, "--node", node.address, "--format", "json"])
            // The events begin with the node's start: these tasks have been completed since then.
            var since = 0
            for await line in watch.lines where EventLine(line)?.event == "completed" {
                since += 1
                if since == 10 { break }
            }
            completed = try await jobs(node.address)[job]?["completed"] as? Int ?? 0
            #expect(completed >= since)
            node.process.send(SIGKILL)
            _ = await node.process.end()
            watch.send(SIGKILL)
            _ = await watch.end()
            node = try await start(1, "--join", other.address)
            let resumed = try await jobs(node.address)[job]?["completed"] as? Int ?? 0
            #expect(resumed >= completed, "everything that was published is stored")
        }
        let end = try await Skynode.run("jobs", "watch", job, "--node", node.address, "--format", "json")
        #expect(end.status == 0 && end.output.last?.contains("\"completed\":100") == true, "\(end.output.last ?? "")")
        #expect(end.output.count { $0.contains("\"event\":\"completed\"") } == 100, "each is shown once")
        node.process.send(SIGKILL)
        _ = await node.process.end()
        node = try await start(1, "--join", other.address)
        let shares = try await jobs(node.address)[job]?["nodes"] as? [String: Int] ?? [:]
        #expect(shares.values.reduce(0, +) == 100, "the shares of the nodes are still known: \(shares)")
        let late = try await Skynode.run("jobs", "watch", job, "--node", node.address, "--format", "json")
        #expect(late.output.count { $0.contains("\"event\":\"completed\"") } == 100, "also of a job that has ended")
    }

    @Test func `a command goes on when its killed node restarts, and says so when it does not`()
        async throws
    {
        let folder = try ScratchFolder()
        // Any free port at first, and then the same again: that is where the command looks for it.
        var node = "127.0.0.1:0"
        func start() async throws -> RunningProcess {
            let process = try RunningProcess(
                Skynode.path,
                ["serve", "--listen", node, "--slots", "2", "--data", folder.file("data"), "--no-multicast"])
            var lines = process.lines.makeAsyncIterator()
            node = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
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
        let shown = ended.output.count { $0.contains("\"event\":\"completed\"") }
        #expect(shown == 60, "nothing is reported twice, and nothing is left out")

        let impatient = try follow("--reconnect-for", "1s")
        lines = impatient.lines.makeAsyncIterator()
        await completed(5, &lines)
        daemon.send(SIGKILL)
        _ = await daemon.end()
        let gone = await impatient.end()
        #expect(gone.status == 3 && gone.errors.last?.contains("skynode jobs watch") == true, "\(gone.errors)")
    }

    @Test func `a folder in use by another node, or without a journal, is refused in one line`() async throws {
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
