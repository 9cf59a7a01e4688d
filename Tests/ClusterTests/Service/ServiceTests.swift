import Foundation
import Glibc
import Testing

/// A node as systemd sees it: notified, configured, reloaded, stopped.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct ServiceTests {
    private func serve(_ variables: [String], _ options: [String]) throws -> RunningProcess {
        try RunningProcess("/usr/bin/env", variables + [Skynode.path, "serve", "--no-multicast"] + options)
    }

    @Test func `systemd is notified that a node is ready, still running, and stopping`() async throws {
        let folder = try ScratchFolder()
        let socket = try NotifySocket(in: folder)
        let node = try serve(
            ["NOTIFY_SOCKET=\(socket.path)", "WATCHDOG_USEC=300000"],
            ["--name", "watched", "--listen", "127.0.0.1:0", "--slots", "3", "--data", folder.file("data")])
        #expect(await socket.lines(upTo: "READY") == ["READY=1", "STATUS=3 slots, 1 node"])
        for _ in 0..<3 { #expect(await socket.lines(upTo: "WATCHDOG").last == "WATCHDOG=1") }
        node.send(SIGTERM)
        #expect(await socket.lines(upTo: "STOPPING").last == "STOPPING=1")
        let ended = await node.end()
        #expect(ended.status == 0)
    }

    @Test func `a node without standard output ends in order`() async throws {
        let folder = try ScratchFolder()
        let socket = try NotifySocket(in: folder)
        let line =
            "exec \"$0\" serve --no-multicast --http none --listen 127.0.0.1:0 --data '\(folder.file("data"))' >&-"
        let node = try RunningProcess(
            "/usr/bin/env", ["NOTIFY_SOCKET=\(socket.path)", "/bin/sh", "-c", line, Skynode.path])
        #expect(await socket.lines(upTo: "READY").first == "READY=1")
        node.send(SIGTERM)
        let ended = await node.end()
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `a stopping node lets its tasks end, and no task runs twice`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let job = try RunningProcess(
                Skynode.path,
                [
                    "simulate", "--tasks", "12", "--duration", "2s", "--node", cluster.addresses[0], "--format", "json",
                ])
            // A node that has completed a task has another one by then, which takes two seconds: more than a busy machine
            // needs to send a signal.
            for await line in job.lines where EventLine(line)?.node == "node2" { break }
            // The second signal counts as an echo of the first.
            for _ in 1...2 { cluster.nodes[1].send(SIGTERM) }
            let stopped = await cluster.nodes[1].end()
            #expect(stopped.status == 0)
            #expect(
                stopped.errors.contains { $0.contains("stopping; what runs may go on for a while") },
                "\(stopped.errors)")
            let ended = await job.end()
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.completed == 12 && end.failed == 0 && end.retried == 0)
            #expect(end.nodes?["node2"] ?? 0 > 2, "it ended what ran: \(end.nodes ?? [:])")
        }
    }

    @Test func `tasks that do not end within the grace period run elsewhere`() async throws {
        try await RunningCluster.with(2, slots: 1, options: { _ in ["--stop-grace", "0s"] }) { cluster in
            let job = try RunningProcess(
                Skynode.path,
                [
                    "simulate", "--tasks", "4", "--duration", "3s", "--node", cluster.addresses[0], "--format", "json",
                ])
            // It has another task by then, which takes three seconds.
            for await line in job.lines where EventLine(line)?.node == "node2" { break }
            cluster.nodes[1].send(SIGTERM)
            let stopped = await cluster.nodes[1].end()
            #expect(stopped.status == 0)
            let ended = await job.end()
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.completed == 4 && end.failed == 0)
            #expect(end.nodes?["node2"] == 1, "it did not wait for its second: \(end.nodes ?? [:])")
        }
    }

    @Test func `a second signal ends the wait`() async throws {
        let folder = try ScratchFolder()
        let node = try serve(
            [], ["--listen", "127.0.0.1:0", "--slots", "1", "--stop-grace", "5m", "--data", folder.file("data")])
        var lines = node.lines.makeAsyncIterator()
        let address = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
        // With one slot, the third runs once two are done, and goes on for ever.
        let job = try RunningProcess(
            Skynode.path,
            [
                "simulate", "--tasks", "3", "--duration", "50ms", "--poison", "3:hang", "--node", address, "--format",
                "json",
            ])
        var completed = 0
        for await line in job.lines where EventLine(line)?.event == "completed" {
            completed += 1
            if completed == 2 { break }
        }
        node.send(SIGTERM)
        try await node.untilErrors { $0.contains { $0.contains("stopping; what runs may go on for a while") } }
        // A signal that comes at once counts as an echo of the first.
        let insistence = Task {
            while !Task.isCancelled {
                node.send(SIGTERM)
                await Task.yield()
            }
        }
        #expect(await node.end().status == 0)
        insistence.cancel()
        job.send(SIGKILL)
        _ = await job.end()
    }

    @Test func `SIGHUP applies the settings that can change, and names those that cannot`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("node.yaml")
        func write(_ text: String) throws { try text.write(toFile: file, atomically: false, encoding: .utf8) }
        let base = "listen: 127.0.0.1:0\ndata: \(folder.file("data"))\nname: first\n"
        try write(base + "slots: 2\n")
        let node = try serve(["SKYNODE_CONFIG=\(file)"], [])
        var lines = node.lines.makeAsyncIterator()
        let address = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
        func slots() async throws -> Int? {
            let row = try await Skynode.run("nodes", "--node", address, "--format", "json").output.first ?? ""
            return row.firstMatch(of: /"slots":(\d+)/).flatMap { Int($0.1) }
        }
        /// Lets the node read a configuration, and waits until it says that it has: two signals at once may be one reading,
        /// and one more reading that of the next configuration.
        func reload(_ text: String, expecting wanted: Int) async throws {
            let readings = { node.errorsSoFar.count { $0.contains("read again") || $0.contains("cannot be used") } }
            let before = readings()
            try write(text)
            node.send(SIGHUP)
            try await node.untilErrors { _ in readings() > before }
            #expect(readings() == before + 1)
            #expect(try await slots() == wanted)
        }
        #expect(try await slots() == 2)
        try await reload(base.replacingOccurrences(of: "first", with: "second") + "slots: 5\n", expecting: 5)
        // A configuration of no use changes nothing.
        try await reload(base + "slots: none\n", expecting: 5)
        try await reload(base + "slots: 3\n", expecting: 3)
        // This is the configuration of the start.
        try await reload(base + "slots: 4\n", expecting: 4)
        try await reload(base.replacingOccurrences(of: "first", with: "third") + "slots: 6\n", expecting: 6)
        try await reload(base.replacingOccurrences(of: "first", with: "third") + "slots: 7\n", expecting: 7)
        node.send(SIGTERM)
        let ended = await node.end()
        #expect(ended.status == 0)
        let due = ended.errors.filter { $0.contains("next start") && $0.contains("keys=name") }
        #expect(due.count == 3, "each time it differs from what the node was started with")
    }

    @Test func `a configuration error is reported with its line, and nothing starts`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("node.yaml")
        try "slots: 2\nlissten: here\nmulticast: true\n".write(toFile: file, atomically: true, encoding: .utf8)
        let first = "skynode: \(file):2: there is no key `lissten`; did you mean `listen`?"
        let started = try await Skynode.run("serve", "--config", file)
        #expect(started.status == 2 && started.errors == [first])
        let checked = try await Skynode.run("serve", "--config", file, "--check-config")
        #expect(checked.status == 2 && checked.errors.count == 3 && checked.errors.first == first, "\(checked.errors)")
        #expect(
            checked.errors.dropFirst().first?.hasPrefix("skynode: \(file):3: --multicast true: not an IPv4") == true)
        #expect(checked.errors.last == "skynode: 2 problems")
        try "slots: 2\nmulticast: 10.0.0.1:5\n".write(toFile: file, atomically: true, encoding: .utf8)
        let ended = try await Skynode.run("serve", "--config", file, "--check-config")
        #expect(ended.status == 2 && ended.errors.count == 1)
        #expect(ended.errors.first?.hasPrefix("skynode: \(file):2: --multicast 10.0.0.1:5: not an IPv4") == true)
    }
}
