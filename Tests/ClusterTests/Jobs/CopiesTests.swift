import Foundation
import FoundationNetworking
import Glibc
import Testing

/// Nodes that keep copies of each other's jobs, and are lost.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3))))
struct CopiesTests {
    private struct Storage: Decodable {
        struct Copy: Decodable {
            var node: String?
            var behind: Int?
            var hasVote: Bool
        }

        var copies: [Copy]?
    }

    private struct Line: Decodable {
        var event: String?
        var task: String?
        var completed: Int?
    }

    /// Waits until two nodes have a copy of what a node keeps.
    private func untilCopied(_ node: String) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let shown = try await Skynode.run("jobs", "storage", "--here", "--format", "json", "--node", node)
            let storage = shown.output.first.flatMap { try? JSONDecoder().decode(Storage.self, from: Data($0.utf8)) }
            if storage?.copies?.count(where: { $0.hasVote && $0.behind == 0 }) == 2 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("nobody keeps copies of what \(node) has")
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func `a command goes on where the node with its job is lost or hangs, and every task is done and shown once`(
        signal: Int32
    ) async throws {
        try await RunningCluster.with(4, slots: 1, options: { _ in ["--copies", "2", "--adopt-after", "3s"] }) {
            cluster in
            let node = cluster.addresses[2]
            try await untilCopied(node)
            let command = try RunningProcess(
                Skynode.path,
                ["simulate", "--tasks", "120", "--duration", "100ms", "--node", node, "--format", "json"])
            var lines = command.lines.makeAsyncIterator()
            var (completed, isLost, total): ([String], Bool, Int?) = ([], false, nil)
            while let line = await lines.next() {
                guard let event = try? JSONDecoder().decode(Line.self, from: Data(line.utf8)) else { continue }
                if event.event == "completed", let task = event.task { completed.append(task) }
                total = event.completed ?? total
                if completed.count == 20, !isLost {
                    isLost = true
                    cluster.nodes[2].send(signal)
                    if signal == SIGSTOP { continue }
                    _ = await cluster.nodes[2].end()
                    try FileManager.default.removeItem(atPath: cluster.state.file("node3"))
                }
            }
            defer { cluster.nodes[2].send(SIGCONT) }
            let ended = await command.end()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(total == 120 && isLost)
            #expect(Set(completed).count == completed.count, "a task is done once")
            #expect(completed.count == 120, "and shown, whoever had stored it")
            #expect(ended.errors.contains { $0.contains("goes on with the job") }, "\(ended.errors)")
            #expect(!ended.errors.contains { $0.contains("is back") }, "\(ended.errors)")
            // One other node has it now, and all list it.
            var here = 0
            for other in [0, 1, 3].map({ cluster.addresses[$0] }) {
                for isHere in [true, false] {
                    let list = try await Skynode.run(
                        ["jobs", "--format", "json", "--node", other] + (isHere ? ["--here"] : []))
                    let found = list.output.count { $0.contains("\"done\"") && $0.contains("120") }
                    guard !isHere else {
                        here += found
                        continue
                    }
                    // The lost one may be cut off, and at work.
                    #expect(found == 1 && list.status == 3 && list.errors.count == 1, "\(list.errors)")
                    #expect(list.errors.first?.contains("node3 was lost") == true, "\(list.errors)")
                }
            }
            #expect(here == 1)
        }
    }

    @Test func `a node without slots takes jobs and keeps copies, and runs no task until it is given slots`()
        async throws
    {
        let config = try ScratchFolder()
        func configure(_ node: Int, slots: Int) throws {
            try Data("slots: \(slots)\n".utf8).write(to: URL(fileURLWithPath: config.file("\(node).yaml")))
        }
        for node in 1...3 { try configure(node, slots: node == 1 ? 1 : 0) }
        try await RunningCluster.with(
            3, slots: nil, options: { ["--config", config.file("\($0).yaml"), "--copies", "2"] }
        ) { cluster in
            let node = cluster.addresses[1]
            try await untilCopied(node)
            let done = try await Skynode.run("simulate", "--tasks", "6", "--duration", "10ms", "--node", node)
            #expect(done.status == 0 && done.output.contains { $0.split(separator: " ") == ["node1", "6"] })
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            let job = try await submit(2, to: node)
            _ = try await untilListed(job, at: [node]) { $0.completed == 0 && $0.state == "paused" }
            let why = try await Skynode.run("jobs", "why", job, "--node", node)
            #expect(why.output.contains { $0.contains("all it may use were given none") }, "\(why.output)")
            try configure(3, slots: 2)
            cluster.nodes[2].send(SIGHUP)
            _ = try await untilListed(job, at: [node]) { $0.completed == 2 && $0.state == "done" }
        }
    }

    /// How a node lists a job that it has itself; `nil` where it does not.
    private func listed(_ job: String, at node: String) async throws -> ListedJob? {
        try await ListedJob.find(job, at: node, "--here")
    }

    private func submit(_ tasks: Int, to node: String) async throws -> String {
        try await ListedJob.submit(tasks, to: node)
    }

    /// Waits until a node lists a job that is as it is to be.
    private func untilListed(_ job: String, at nodes: [String], _ isRight: (ListedJob) -> Bool) async throws -> String?
    {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            for node in nodes { if let found = try await listed(job, at: node), isRight(found) { return node } }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("no node lists job \(job) as it is to be")
        return nil
    }

    @Test func `a node that is drained hands its jobs over, and one that is to go does so before it stops`()
        async throws
    {
        try await RunningCluster.with(4, slots: 1, options: { _ in ["--copies", "2"] }) { cluster in
            let addresses = cluster.addresses
            try await untilCopied(addresses[0])
            let job = try await submit(250, to: addresses[0])
            let drained = try await Skynode.run("nodes", "drain", "node1", "--node", addresses[3])
            #expect(drained.status == 0, "\(drained.errors)")
            #expect(
                drained.output.first?.wholeMatch(of: /node1: drained; its 1 job goes on at node[234]/) != nil,
                "\(drained.output)")
            guard let second = try await untilListed(job, at: Array(addresses[1...]), { _ in true }) else { return }
            #expect(try await listed(job, at: addresses[0]) == nil)
            // Any node shows it by its whole id.
            #expect(try await Skynode.run("jobs", job, "--node", addresses[0]).status == 0)
            let place = try #require(addresses.firstIndex(of: second))
            _ = try await untilListed(job, at: [second]) { $0.copies?.kept == 2 }
            cluster.nodes[place].send(SIGUSR1)
            try await cluster.nodes[place].untilErrors { $0.contains { $0.contains("are handed over") } }
            cluster.nodes[place].send(SIGTERM)
            let others = addresses.indices.filter { $0 != place && $0 != 0 }.map { addresses[$0] }
            let last = try #require(
                try await untilListed(job, at: others) { $0.state == "done" && $0.completed == 250 })

            // With its last job gone, the coordinator that was taken over twice ends, and nobody keeps anything of it.
            let log = cluster.nodes[place].errorsSoFar
            let line = try #require(log.first { $0.contains("are taken over, and go on here") })
            let coordinator = try #require(line.firstMatch(of: /coordinator=([0-9a-f]{16})/)?.1, "\(line)")
            let running = addresses.indices.filter { $0 != place }.map { cluster.state.file("node\($0 + 1)") }
            func keepers() -> [String] {
                running.filter { FileManager.default.fileExists(atPath: "\($0)/copies/\(coordinator)") }
            }
            #expect(keepers().count >= 2)
            let deleted = try await Skynode.run("jobs", "delete", job, "--node", last)
            #expect(deleted.status == 0, "\(deleted.errors)")
            let end = ContinuousClock.now + .seconds(60)
            while !keepers().isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(100)) }
            #expect(
                keepers().isEmpty,
                "\(cluster.nodes.map { $0.errorsSoFar.joined(separator: "\n") }.joined(separator: "\n\n"))")
        }
    }

    @Test func `every command finds a job from any node, before its node is lost, meanwhile and when it is taken over`()
        async throws
    {
        try await RunningCluster.with(3, slots: 1, options: { _ in ["--copies", "2", "--adopt-after", "3s"] }) {
            cluster in
            let (node, other) = (cluster.addresses[0], cluster.addresses[1])
            try await untilCopied(node)
            var submitted: [String] = []
            for _ in 0..<6 { submitted.append(try await submit(1, to: node)) }
            let jobs = submitted
            for job in jobs { _ = try await untilListed(job, at: [node]) { $0.state == "done" } }
            let long = try await submit(400, to: node)
            func run(_ words: String...) async throws -> Ended {
                try await Skynode.run(["jobs"] + words + ["--node", other])
            }
            #expect(try await run("show", String(jobs[0].prefix(10))).status == 0)
            #expect(try await run("show", "@last").output.first?.contains(long) == true)
            // It is no scan, but it is there.
            #expect(try await run("results", jobs[0]).errors.last?.contains("is no scan") == true)
            #expect(try await run("delete", jobs[0]).status == 0)
            #expect(try await run("unprotect", jobs[1]).status == 0)
            #expect(try await run("--format", "json").output.count == 6)
            // The copies have no vote for a moment after `unprotect`.
            try await untilCopied(node)
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            // All of them at once, while nobody has the jobs.
            async let shown = run("show", jobs[1])
            async let results = run("results", jobs[2])
            async let deleted = run("delete", jobs[3])
            async let explained = run("why", String(long.prefix(10)))
            async let last = run("watch", "@last", "--reconnect-for", "90s")
            async let cancelled = run("cancel", long)
            let ended = try await [shown, deleted, explained, cancelled]
            #expect(ended.allSatisfy { $0.status == 0 }, "\(ended.map(\.errors))")
            let fetched = try await results
            #expect(fetched.errors.last?.contains("is no scan") == true, "\(fetched.errors)")
            let watched = try await last
            #expect([0, 130].contains(watched.status), "\(watched.errors)")
            // And afterwards.
            #expect(try await run("delete", String(jobs[4].prefix(12))).status == 3, "node1 may have another one")
            #expect(try await run("delete", jobs[4]).status == 0)
            #expect(try await run("results", jobs[5]).errors.last?.contains("is no scan") == true)
            #expect(try await run("unprotect", long).status == 0)
            let left = try await run("--format", "json")
            #expect(left.status == 3 && left.output.count == 4, "\(left.output) \(left.errors)")
            #expect(left.errors.count == 1 && left.errors[0].contains("node1 was lost"), "\(left.errors)")
            // It is back under its name, whatever has become of its jobs.
            let (process, _) = try await RunningCluster.start(
                1, 1, cluster.multicast, cluster.state, ["--copies", "2", "--adopt-after", "3s"])
            defer { process.send(SIGKILL) }
            let end = ContinuousClock.now + .seconds(60)
            var whole = left
            while whole.status != 0, ContinuousClock.now < end { whole = try await run("--format", "json") }
            #expect(whole.status == 0 && whole.output.count == 4, "\(whole.output) \(whole.errors)")
        }
    }

    @Test func `of two nodes, one takes the other's jobs over on a person's word only`() async throws {
        try await RunningCluster.with(2, slots: 1, options: { _ in ["--copies", "2", "--adopt-after", "2s"] }) {
            cluster in
            let job = try await submit(100, to: cluster.addresses[0])
            _ = try await untilListed(job, at: [cluster.addresses[0]]) { $0.copies?.kept == 1 && $0.completed > 5 }
            let own = try await Skynode.run("jobs", "adopt", "node1", "--node", cluster.addresses[1])
            #expect(own.status == 2 && own.errors.contains { $0.contains("is here") }, "\(own.errors)")
            let stranger = try await Skynode.run("jobs", "adopt", "node7", "--node", cluster.addresses[1])
            #expect(
                stranger.status == 2 && stranger.errors.contains { $0.contains("there are of: node1") },
                "\(stranger.errors)")
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            try FileManager.default.removeItem(atPath: cluster.state.file("node1"))
            let unadopted = try await Skynode.run(
                "jobs", "show", job, "--node", cluster.addresses[1], "--reconnect-for", "1s")
            let list = try await Skynode.run("jobs", "--node", cluster.addresses[1])
            #expect(list.status == 3 && list.errors.count == 1, "\(list.errors)")
            let storage = try await Skynode.run("jobs", "storage", "--node", cluster.addresses[1])
            #expect(
                storage.status == 3 && storage.errors.count == 1 && storage.errors[0].contains("node1"),
                "\(storage.errors)")
            // It may take some seconds until the other one knows that the node is lost.
            var adopted = own
            let end = ContinuousClock.now + .seconds(30)
            repeat {
                adopted = try await Skynode.run("jobs", "adopt", "node1", "--node", cluster.addresses[1])
            } while adopted.status != 0 && ContinuousClock.now < end
            #expect(
                unadopted.status == 3 && unadopted.errors.last?.contains("skynode jobs adopt") == true,
                "\(unadopted.errors)")
            #expect(adopted.output.first?.contains("took over the jobs of node1") == true, "\(adopted.errors)")
            let place = try await untilListed(job, at: [cluster.addresses[1]]) {
                $0.state == "done" && $0.completed == 100
            }
            #expect(place != nil)
        }
    }

    @Test func `jobs whose copies are out of reach wait, say so, and go on alone on a person's word`() async throws {
        try await RunningCluster.with(3, slots: 1, options: { _ in ["--copies", "2"] }) { cluster in
            let node = cluster.addresses[0]
            try await untilCopied(node)
            let needless = try await Skynode.run("jobs", "unprotect", "--all", "--node", node)
            #expect(needless.status == 0 && needless.output.last?.contains("nothing is changed") == true)
            let counted = try await Skynode.run(
                "jobs", "unprotect", "--all", "--node", node, "--format", "json")
            #expect(counted.output == [#"{"unprotected":0}"#])
            let job = try await submit(80, to: node)
            for lost in cluster.nodes[1...] { lost.send(SIGKILL) }
            // One that was heard a moment ago is behind, and nothing else is known of it yet.
            _ = try await untilListed(job, at: [node]) {
                $0.state == "paused" && $0.reason?.contains("unprotect") == true
                    && $0.reason?.contains("node2 and node3 cannot be reached") == true
            }
            let why = try await Skynode.run("jobs", "why", job, "--node", node)
            #expect(
                why.output.contains { $0.contains("nodes that keep copies: node2 and node3 cannot be reached") },
                "\(why.output)")
            let word = try await Skynode.run("jobs", "unprotect", job, "--node", node)
            #expect(word.status == 0, "\(word.errors)")
            #expect(try await untilListed(job, at: [node]) { $0.state == "done" && $0.completed == 80 } != nil)
        }
    }

    @Test func `a node that waits for those with its copies lists the nodes, and its jobs when a person lets it`()
        async throws
    {
        let options = ["--copies", "2"]
        try await RunningCluster.with(3, slots: 1, options: { _ in options }) { cluster in
            try await untilCopied(cluster.addresses[0])
            let job = try await submit(1, to: cluster.addresses[0])
            _ = try await untilListed(job, at: [cluster.addresses[0]]) { $0.state == "done" }
            await RunningCluster.stop(cluster.nodes)
            let (process, node) = try await RunningCluster.start(1, 1, cluster.multicast, cluster.state, options)
            defer { process.send(SIGKILL) }
            let nodes = try await Skynode.run("nodes", "--node", node)
            #expect(nodes.status == 0 && nodes.output.contains { $0.contains("node1") }, "\(nodes.errors)")
            let drained = try await Skynode.run("nodes", "drain", "--all", "--node", node)
            #expect(drained.status == 0 && drained.output == ["node1: drained"], "\(drained.errors)")
            for command in [["jobs"], ["jobs", "show", job], ["jobs", "why", job]] {
                let refused = try await Skynode.run(command + ["--node", node, "--reconnect-for", "1s"])
                #expect(refused.status == 3, "\(command) \(refused.errors)")
                #expect(refused.errors.last?.contains("waits for the nodes with copies") == true, "\(refused.errors)")
            }
            let word = try await Skynode.run("jobs", "unprotect", "--all", "--node", node)
            #expect(word.status == 0, "\(word.errors)")
            #expect(try await untilListed(job, at: [node]) { $0.state == "done" && $0.completed == 1 } != nil)
        }
    }

    @Test func `no node says that a job does not exist while its node is lost, and another one has not taken it over`()
        async throws
    {
        try await RunningCluster.with(4, slots: 1, options: { _ in ["--copies", "2", "--adopt-after", "4s"] }) {
            cluster in
            let node = cluster.addresses[0]
            try await untilCopied(node)
            let job = try await submit(200, to: node)
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            // All others are asked until they know who has it.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for other in cluster.addresses[1...] {
                    group.addTask {
                        var answer = try await Skynode.run("jobs", "show", job, "--node", other)
                        let end = ContinuousClock.now + .seconds(60)
                        while answer.status != 0, ContinuousClock.now < end {
                            #expect(answer.status == 3, "\(answer.errors)")
                            #expect(
                                answer.errors.last?.contains("about to be taken over") == true
                                    || answer.errors.last?.contains("does not take or show jobs now") == true,
                                "\(answer.errors)")
                            answer = try await Skynode.run("jobs", "show", job, "--node", other)
                        }
                        #expect(answer.status == 0)
                    }
                }
                try await group.waitForAll()
            }
            let unknown = try await Skynode.run("jobs", "show", "0123456789abcdef", "--node", cluster.addresses[1])
            #expect(unknown.status == 3 && unknown.errors.first?.contains("there is no job 0123") == true)
            #expect(unknown.errors.last?.contains("node1 was lost") == true, "\(unknown.errors)")
            // One that is started later has it from the others: its own lists are not complete either.
            let state = try ScratchFolder()
            let (late, address) = try await RunningCluster.start(5, 1, cluster.multicast, state, [])
            try await RunningCluster.untilKnown(4, at: address)
            var list = try await Skynode.run("jobs", "--node", address)
            let end = ContinuousClock.now + .seconds(30)
            while list.status == 0, ContinuousClock.now < end {
                list = try await Skynode.run("jobs", "--node", address)
            }
            await RunningCluster.stop([late])
            #expect(list.status == 3 && list.errors.first?.contains("node1 was lost") == true, "\(list.errors)")
        }
    }

    /// A port that nobody uses now.
    private func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        try #require(status == 0)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @Test func `a client of any node's HTTP follows a job to its end over the loss of its node`() async throws {
        let port = try freePort()
        let options = { (number: Int) in
            ["--copies", "2", "--adopt-after", "2s", "--http", number == 2 ? "127.0.0.1:\(port)" : "none"]
        }
        try await RunningCluster.with(4, slots: 1, options: options) { cluster in
            try await untilCopied(cluster.addresses[0])
            let job = try await submit(300, to: cluster.addresses[0])
            let url = "http://127.0.0.1:\(port)/v1/jobs/\(job)"
            async let followed = URLSession.shared.data(from: try #require(URL(string: url + "/events")))
            _ = try await untilListed(job, at: [cluster.addresses[0]]) { $0.completed > 20 }
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            try FileManager.default.removeItem(atPath: cluster.state.file("node1"))
            let lines = String(decoding: try await followed.0, as: UTF8.self).split(separator: "\n").map(String.init)
            let ids = lines.filter { $0.hasPrefix("id: ") }
            #expect(Set(ids).count == ids.count, "every event has an id of its own")
            let histories = Set(ids.compactMap { $0.dropFirst(4).split(separator: ".").first })
            #expect(histories.count == 2, "\(histories)")
            let events = lines.filter { $0.hasPrefix("data: ") }
                .compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.dropFirst(6).utf8)) }
            #expect(events.last?.event == "ended" && events.last?.completed == 300, "\(lines.suffix(3))")
            let tasks = events.filter { $0.event == "completed" }.compactMap(\.task)
            #expect(Set(tasks).count == tasks.count, "a task is done once")
            #expect(tasks.count == 300, "and shown, whoever had stored it")
            // The job itself is shown by a node that does not have it.
            let (shown, _) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            #expect(String(decoding: shown, as: UTF8.self).contains("\"state\":\"done\""))
        }
    }

    @Test func `copies take no more room than they may, and the jobs say that they wait for it`() async throws {
        let options = { (number: Int) in number == 1 ? [] : ["--data-limit", "1M", "--cache-size", "0"] }
        try await RunningCluster.with(3, slots: 2, options: options) { cluster in
            let node = cluster.addresses[0]
            try await untilCopied(node)
            // The room is looked at once a second, so that the job has to take longer, however fast the machine is.
            let started = try await Skynode.run(
                "simulate", "--tasks", "20000", "--duration", "2ms", "--node", node, "--detach")
            let job = try #require(started.output.last, "\(started.errors)")
            _ = try await untilListed(job, at: [node]) {
                $0.state == "paused"
                    && $0.reason?.contains(#/holds .*, and node[23], which keeps a copy, has room for /#) == true
            }
            let storage = try await Skynode.run("jobs", "storage", "--here", "--node", cluster.addresses[1])
            #expect(storage.output.contains { $0.contains("copies of other nodes' jobs: ") }, "\(storage.output)")
            _ = try await Skynode.run("jobs", "unprotect", job, "--node", node)
            #expect(try await untilListed(job, at: [node]) { $0.state == "done" && $0.completed == 20_000 } != nil)
        }
    }
}
