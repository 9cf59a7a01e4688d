import Foundation
import Glibc
import Testing

/// A cluster whose key is changed while it works.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct KeyChangeTests {
    @Test func `no task is lost when a stolen key is changed on all machines at once`() async throws {
        let folder = try ScratchFolder()
        let (old, new, key) = (folder.file("old.key"), folder.file("new.key"), folder.file("cluster.key"))
        for key in [old, new] { #expect(try await Skynode.run("key", "new", "--output", key).status == 0) }
        let credential = folder.file("alice.pem")
        let issued = try await Skynode.run("key", "issue", "alice", "--cluster-key", old, "--output", credential)
        #expect(issued.status == 0)
        func use(_ file: String) throws {
            try? FileManager.default.removeItem(atPath: key)
            try FileManager.default.copyItem(atPath: file, toPath: key)
        }
        let (multicast, keys) = (RunningCluster.group(), ["--cluster-key", key])
        var nodes: [RunningProcess] = []
        var addresses: [String] = []
        func startAll() async throws {
            for number in 1...3 {
                let (node, address) = try await RunningCluster.start(number, 1, multicast, folder, keys)
                nodes.append(node)
                addresses.append(address)
            }
            try await RunningCluster.untilKnown(3, at: addresses[0], keys)
        }
        do {
            try use(old)
            try await startAll()
            let submitted = try await Skynode.run(
                ["simulate", "--tasks", "100", "--duration", "100ms", "--detach", "--node", addresses[0]] + keys)
            let job = try #require(submitted.output.first)
            try use(new)
            for node in nodes {
                node.send(SIGTERM)
                #expect(await node.end().status == 0)
            }
            (nodes, addresses) = ([], [])
            try await startAll()
            let ended = try await Skynode.run(
                ["jobs", "watch", job, "--node", addresses[0], "--format", "json"] + keys)
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.event == "ended" && end.completed == 100 && end.failed == 0)
            for stolen in [old, credential] {
                let refused = try await Skynode.run("nodes", "--node", addresses[0], "--cluster-key", stolen)
                #expect(refused.status == 3 && refused.errors.count == 1, "\(refused.errors)")
            }
        } catch {
            await RunningCluster.stop(nodes)
            throw error
        }
        await RunningCluster.stop(nodes)
    }

    @Test func `no task is lost when the key of a working cluster is changed`() async throws {
        let folder = try ScratchFolder()
        let (old, new) = (folder.file("old.key"), folder.file("new.key"))
        for key in [old, new] { #expect(try await Skynode.run("key", "new", "--output", key).status == 0) }
        let multicast = RunningCluster.group()
        var nodes: [RunningProcess] = []
        var addresses: [String] = []
        func start(_ index: Int, _ keys: [String]) async throws {
            let (node, address) = try await RunningCluster.start(index + 1, 1, multicast, folder, keys)
            if index < nodes.count {
                (nodes[index], addresses[index]) = (node, address)
            } else {
                nodes.append(node)
                addresses.append(address)
            }
        }
        func untilAllKnow(_ keys: [String]) async throws {
            for address in addresses { try await RunningCluster.untilKnown(3, at: address, keys) }
        }
        do {
            var keys = ["--cluster-key", old]
            for index in 0..<3 { try await start(index, keys) }
            try await untilAllKnow(keys)
            let submitted = try await Skynode.run(
                ["simulate", "--tasks", "200", "--duration", "100ms", "--detach", "--node", addresses[0]] + keys)
            let job = try #require(submitted.output.first)
            // As docs/OPERATING.md says: each round one node after the other.
            for round in [
                ["--cluster-key", old, "--accept-key", new], ["--cluster-key", new, "--accept-key", old],
                ["--cluster-key", new],
            ] {
                for index in 0..<3 {
                    nodes[index].send(SIGTERM)
                    let ended = await nodes[index].end()
                    #expect(ended.status == 0)
                    try await start(index, round)
                }
                keys = round
                try await untilAllKnow(keys)
            }
            let ended = try await Skynode.run(
                ["jobs", "watch", job, "--node", addresses[0], "--format", "json"] + keys)
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.event == "ended" && end.completed == 200 && end.failed == 0)
            // The old key is no longer accepted.
            let refused = try await Skynode.run("nodes", "--node", addresses[0], "--cluster-key", old)
            #expect(refused.status == 3)
        } catch {
            await RunningCluster.stop(nodes)
            throw error
        }
        await RunningCluster.stop(nodes)
    }

    @Test func `a revocation under the old key keeps no node from starting, and is said once`() async throws {
        let (keys, next) = (try await IssuedKeys([("alice", "user")]), try await IssuedKeys([]))
        let multicast = RunningCluster.group()
        func log(_ options: [String]) async throws -> [String] {
            let (node, _) = try await RunningCluster.start(1, 1, multicast, keys.folder, options)
            node.send(SIGTERM)
            let ended = await node.end()
            #expect(ended.status == 0)
            return ended.errors.filter { $0.contains("revo") }
        }
        let own = ["--cluster-key", keys.cluster]
        let words = "revocations of another cluster key are left out"
        #expect(try await Skynode.run(["key", "revoke", "alice"] + own).status == 0)
        #expect(try await log(own).map { $0.hasSuffix("persons=alice: credentials were revoked") } == [true])
        // Another key, both keys, none: what the data folder has is left out where nobody here has signed it.
        let accepting = ["--cluster-key", next.cluster, "--accept-key", keys.cluster]
        for (options, isLeftOut) in [(["--cluster-key", next.cluster], true), (accepting, false), ([], true)] {
            let lines = try await log(options)
            #expect(lines.map { $0.hasSuffix("persons=alice: \(words)") } == (isLeftOut ? [true] : []), "\(lines)")
        }
        // The new key in the old one's place, beside which the revocations lie. In the data folder they are signed again since both keys
        // were accepted.
        try FileManager.default.removeItem(atPath: keys.cluster)
        try FileManager.default.copyItem(atPath: next.cluster, toPath: keys.cluster)
        #expect(try await log(own).count { $0.hasSuffix("persons=alice: \(words)") } == 1)
        let check = try await Skynode.run(
            [
                "serve", "--name", "node1", "--listen", "127.0.0.1:0", "--data", keys.folder.file("node1"),
                "--check-config",
            ] + own)
        #expect(check.status == 0 && check.errors.count == 1, "\(check.errors)")
        #expect(
            check.errors.allSatisfy { $0.hasPrefix("note: ") && $0.hasSuffix("signed with another cluster key: alice") }
        )
        // What is revoked under the new key counts.
        #expect(try await Skynode.run(["key", "revoke", "bob"] + own).status == 0)
        #expect(try await log(own).contains { $0.hasSuffix("persons=bob: credentials were revoked") })
        let shown = try await Skynode.run("key", "show", keys.cluster).output
        #expect(
            shown.contains { $0.hasPrefix("revoked      bob") } && shown.contains { $0.hasPrefix("left out     alice") }
        )
    }

    @Test func `somebody who is revoked in any round of a key change stays out`() async throws {
        let folder = try ScratchFolder()
        let (key, new, address) = (folder.file("cluster.key"), folder.file("new.key"), "127.0.0.1:0")
        for key in [key, new] { #expect(try await Skynode.run("key", "new", "-o", key).status == 0) }
        // Credentials under the new key are issued before round 2, and one person has had none under the old key.
        let persons = ["alice", "bob", "carol", "dave", "eve"]
        for person in persons {
            let words = ["key", "issue", person, "--cluster-key", new, "-o", folder.file(person)]
            #expect(try await Skynode.run(words).status == 0)
        }
        let rounds = [
            ["--cluster-key", key], ["--cluster-key", key, "--accept-key", new],
            ["--cluster-key", new, "--accept-key", key], ["--cluster-key", key],
        ]
        for (round, keys) in rounds.enumerated() {
            if round == 3 {
                #expect(rename(new, key) == 0)
            }
            let options = ["--name", "n", "--no-multicast", "--http", "none", "--data", folder.file("data")]
            let node = try RunningProcess(Skynode.path, ["serve", "--listen", address] + options + keys)
            var lines = node.lines.makeAsyncIterator()
            let listening = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
            // As docs/OPERATING.md says, with the key in its usual place; in round 2 also with the key that has its own place then.
            for (person, file) in [(persons[round], key)] + (round == 2 ? [("eve", new)] : []) {
                #expect(try await Skynode.run("key", "revoke", person, "--cluster-key", file).status == 0)
                node.send(SIGHUP)
                try await node.untilErrors {
                    $0.contains { $0.hasSuffix("persons=\(person): credentials were revoked") }
                }
            }
            if round == 3 {
                for person in persons {
                    let words = ["jobs", "--node", listening, "--cluster-key", folder.file(person)]
                    let refused = try await Skynode.run(words)
                    #expect(refused.status == 3, "\(person) \(refused.errors)")
                    #expect(refused.errors.first?.contains("credential of user \(person) has been revoked") == true)
                }
                // What the node keeps may lie beside the key, too.
                try FileManager.default.removeItem(atPath: key + ".revoked")
                try FileManager.default.copyItem(atPath: folder.file("data/revocations"), toPath: key + ".revoked")
                let shown = try await Skynode.run("key", "show", key).output.filter { $0.hasPrefix("revoked") }
                #expect(shown.count == persons.count, "\(shown)")
            }
            node.send(SIGTERM)
            #expect(await node.end().status == 0)
        }
    }

    /// What keeps a node from starting, as a change of its folder, options that are given then, and words of the message.
    private static let obstacles: [(change: String, options: [String], words: String)] = [
        ("echo nonsense >> data/revocations", [], "data/revocations, line 3: not a revocation"),
        ("sed -i s/alice/bob/ data/revocations", [], "data/revocations, line 2: not signed with this cluster's key"),
        (
            "sed -i s/alice/bob/ cluster.key.revoked", [],
            "cluster.key.revoked, line 2: not signed with this cluster's key"
        ),
        ("rm data/revocations; mkdir data/revocations", [], "data/revocations: not a regular file"),
        ("chmod 777 data", [], "data: every user can write to it"),
        ("rm -r data; touch data", [], "data: Not a directory"),
        ("head -c 9000 /dev/urandom > data/journal.sqlite", [], "journal.sqlite is not a journal of this program"),
        ("head -c 9000 /dev/urandom > data/replicas.sqlite", [], "replicas.sqlite is not a journal of this program"),
        ("true", ["--listen", "192.0.2.1:7420"], "cannot listen on 192.0.2.1:7420: this machine has no such address"),
    ]

    @Test(arguments: obstacles.indices)
    func `what keeps a node from starting is found by --check-config, with the same words`(index: Int) async throws {
        let (change, options, words) = KeyChangeTests.obstacles[index]
        let keys = try await IssuedKeys([])
        let own = ["--cluster-key", keys.cluster]
        #expect(try await Skynode.run(["key", "revoke", "alice"] + own).status == 0)
        let serve =
            [
                "serve", "--listen", "127.0.0.1:0", "--no-multicast", "--http", "none", "--data",
                keys.folder.file("data"),
            ] + own
        let node = try RunningProcess(Skynode.path, serve)
        for await line in node.lines where line.contains("listening on") { node.send(SIGTERM) }
        #expect(await node.end().status == 0)
        let before = try await Skynode.run(serve + ["--check-config"])
        #expect(before.status == 0 && before.errors.isEmpty, "\(before.errors)")
        #expect(try await Skynode.shell("cd '\(keys.folder.path)' && \(change)").status == 0)
        let files = try await Skynode.shell("cd '\(keys.folder.path)' && ls -lR && cksum cluster.key* data/* 2>&1")
        let check = try await Skynode.run(serve + options + ["--check-config"])
        #expect(check.status == 2 && check.errors.contains { $0.contains(words) }, "\(check.errors)")
        let after = try await Skynode.shell("cd '\(keys.folder.path)' && ls -lR && cksum cluster.key* data/* 2>&1")
        #expect(files.output == after.output, "nothing is changed")
        let started = try await Skynode.run(serve + options)
        #expect(started.status == 2 && started.errors.contains { $0.contains(words) }, "\(started.errors)")
    }

    @Test func `a configuration is in order while its node runs, and where its folder is yet to be made`() async throws
    {
        let keys = try await IssuedKeys([])
        let serve = [
            "serve", "--listen", "127.0.0.1:0", "--no-multicast", "--http", "none", "--cluster-key", keys.cluster,
            "--data",
            keys.folder.file("a/b/data"),
        ]
        #expect(try await Skynode.run(serve + ["--check-config"]).status == 0)
        #expect(access(keys.folder.file("a"), F_OK) == -1, "nothing is made")
        let node = try RunningProcess(Skynode.path, serve)
        var lines = node.lines.makeAsyncIterator()
        let address = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
        let check = try await Skynode.run(serve + ["--listen", address, "--check-config"])
        #expect(check.status == 0 && check.errors.isEmpty, "\(check.errors)")
        node.send(SIGTERM)
        #expect(await node.end().status == 0)
    }

    @Test func `--accept-key needs --cluster-key`() async throws {
        let folder = try ScratchFolder()
        let key = folder.file("a.key")
        #expect(try await Skynode.run("key", "new", "--output", key).status == 0)
        let ended = try await Skynode.run("nodes", "--accept-key", key, "--no-multicast")
        #expect(ended.status == 2)
        #expect(ended.errors == ["skynode: --accept-key goes with --cluster-key: a node has one key of its own"])
    }
}
