import Foundation
import Glibc
import Testing

/// Persons with credentials, at real nodes that have the cluster key.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(4)))) struct CredentialTests {
    private func run(_ words: [String]) async throws -> Ended { try await Skynode.run(words) }

    private func submit(_ options: [String], _ tasks: Int = 2, _ duration: String = "1ms") async throws -> String {
        let words = ["simulate", "--tasks", "\(tasks)", "--duration", duration, "--detach"]
        let submitted = try await run(words + options)
        #expect(submitted.status == 0)
        return try #require(submitted.output.first)
    }

    @Test func `a user has own jobs only, an operator all, and neither is a node`() async throws {
        let keys = try await IssuedKeys([("alice", "user"), ("bob", "user"), ("olga", "operator")])
        try await RunningCluster.with(
            2, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let (here, there) = (cluster.addresses[0], cluster.addresses[1])
            let (alice, bob, olga) = (keys.of("alice", here), keys.of("bob", here), keys.of("olga", here))
            let long = try await submit(alice, 1000, "1s")
            let short = try await submit(bob)
            let holders = try await submit(["--cluster-key", keys.cluster, "--node", here])
            #expect(try await run(["jobs", "watch", short] + bob).status == 0)

            // What a list shows is what its reader may touch.
            func listed(_ options: [String]) async throws -> Set<String> {
                let list = try await run(["jobs", "--format", "json"] + options)
                #expect(list.status == 0)
                return Set(list.output.compactMap { line in [long, short, holders].first { line.contains($0) } })
            }
            #expect(try await listed(alice) == [long])
            #expect(try await listed(bob) == [short])
            #expect(try await listed(olga) == [long, short, holders])
            let shown = try await run(["jobs", "show", long] + olga)
            #expect(shown.output.contains("by         alice"))
            #expect(try await run(["jobs"] + olga).output.contains { $0.contains(" alice ") })

            for words in [
                ["jobs", "show"], ["jobs", "why"], ["jobs", "watch"], ["jobs", "cancel"], ["jobs", "delete"],
            ] {
                // The whole id, because a list from which to complete it does not have it.
                for options in [bob, keys.of("bob", there)] {
                    let refused = try await run(words + [long] + options)
                    #expect(refused.status != 0, "\(words)")
                    #expect(refused.errors.count == 1, "\(refused.errors)")
                }
            }
            for words in [
                ["nodes", "drain", "node2"], ["nodes", "resume", "node2"], ["jobs", "unprotect", "--all"],
                ["jobs", "adopt", "node2"],
            ] {
                let refused = try await run(words + alice)
                #expect(refused.status != 0)
                #expect(
                    refused.errors.contains { $0.contains("user alice may not do this") }, "\(words) \(refused.errors)")
            }
            #expect(try await run(["nodes"] + alice).output.count == 3)
            // By multicast, with the question of a person.
            let found = try await run(
                ["nodes", "--multicast", cluster.multicast, "--cluster-key", keys.folder.file("alice")])
            #expect(found.status == 0 && found.output.count == 3, "\(found.errors)")
            #expect(try await run(["jobs", "show", long] + alice).output.contains { $0.contains("running") })

            // A credential makes no node and no credential.
            let node = try await run(["serve", "--listen", "127.0.0.1:0", "--cluster-key", keys.folder.file("olga")])
            #expect(node.status == 2 && node.errors.count == 1)
            #expect(node.errors.first?.contains("the credential of operator olga is for commands") == true)
            let joined = try await run(["simulate", "--join", here, "--cluster-key", keys.folder.file("olga")])
            #expect(joined.status == 2 && joined.errors.count == 1)
            let issued = try await run(["key", "issue", "eve", "--cluster-key", keys.folder.file("olga")])
            #expect(issued.status == 2 && issued.output.isEmpty)

            #expect(try await run(["nodes", "drain", "node2"] + olga).status == 0)
            #expect(try await run(["nodes", "resume", "node2"] + olga).status == 0)
            #expect(try await run(["jobs", "cancel", long] + olga).status == 0)
            #expect(try await run(["jobs", "delete", short] + bob).status == 0)
        }
    }

    @Test func `a user's scan is found by the token, and by nobody else's`() async throws {
        let keys = try await IssuedKeys([("alice", "user"), ("bob", "user")])
        try await RunningCluster.with(
            1, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let (alice, bob) = (keys.of("alice", cluster.addresses[0]), keys.of("bob", cluster.addresses[0]))
            let words = ["simulate", "--tasks", "2", "--duration", "1ms", "--detach", "--token", "night 7"]
            let first = try await run(words + alice)
            #expect(first.status == 0)
            #expect(try await run(words + alice).output.first == first.output.first)
            let other = try await run(words + bob)
            #expect(other.status != 0 && other.output.isEmpty)
        }
    }

    @Test func `one who is revoked at one node is out everywhere, and the job goes on`() async throws {
        let keys = try await IssuedKeys([("alice", "user"), ("olga", "operator")])
        try await RunningCluster.with(
            5, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let job = try await submit(keys.of("alice", cluster.addresses[0]), 1000, "100ms")
            let watch = try RunningProcess(
                Skynode.path, ["jobs", "watch", job, "--reconnect-for", "0s"] + keys.of("alice", cluster.addresses[0]))
            for address in cluster.addresses {
                #expect(try await run(["nodes"] + keys.of("alice", address)).status == 0)
            }
            let revoked = try await run(["key", "revoke", "alice", "--cluster-key", keys.cluster])
            #expect(revoked.status == 0 && revoked.errors.isEmpty)
            let began = ContinuousClock.now
            cluster.nodes[1].send(SIGHUP)
            for address in cluster.addresses {
                var status: Int32? = 0
                while status == 0, began.duration(to: .now) < .seconds(30) {
                    let asked = try await run(["nodes"] + keys.of("alice", address))
                    status = asked.status
                    if status != 0 {
                        #expect(asked.errors.first?.contains("the credential of user alice has been revoked") == true)
                    }
                }
                #expect(status == 3, "\(address)")
            }
            print("out at all five nodes \(began.duration(to: .now)) after the signal")
            let ended = await watch.end()
            #expect(ended.status != 0, "what she watched ended")
            let olga = keys.of("olga", cluster.addresses[0])
            #expect(try await run(["jobs", "show", job] + olga).output.contains { $0.contains("running") })
            #expect(
                try await run(["key", "show", keys.cluster]).output.contains { $0.hasPrefix("revoked      alice") })

            // A node that was not there, and one that has forgotten its folder, hear of it from the others; a new credential counts.
            let (late, address) = try await RunningCluster.start(
                6, 1, cluster.multicast, cluster.state, ["--cluster-key", copied(keys)])
            try await RunningCluster.untilKnown(6, at: address, ["--cluster-key", keys.cluster])
            var status: Int32? = 0
            let limit = ContinuousClock.now + .seconds(30)
            while status == 0, ContinuousClock.now < limit {
                status = try await run(["nodes"] + keys.of("alice", address)).status
            }
            #expect(status == 3)
            try await keys.issue("alice", "user", as: "again")
            #expect(try await run(["nodes"] + keys.of("again", address)).status == 0)
            late.send(SIGTERM)
            _ = await late.end()
        }
    }

    /// The cluster key in another folder, where no revocations lie beside it.
    private func copied(_ keys: IssuedKeys) throws -> String {
        let path = keys.folder.file("other.key")
        try keys.folder.contents("cluster.key").write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        return path
    }

    @Test func `a changed file of revocations stops no node that runs, and lets none start`() async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        #expect(try await run(["key", "revoke", "alice", "--cluster-key", keys.cluster]).status == 0)
        let file = keys.cluster + ".revoked"
        let text = try String(decoding: keys.folder.contents("cluster.key.revoked"), as: UTF8.self)
        try Data(text.replacing("alice", with: "bob").utf8).write(to: URL(fileURLWithPath: file))
        let refused = try await run(["serve", "--listen", "127.0.0.1:0", "--cluster-key", keys.cluster])
        #expect(refused.status == 2 && refused.errors.count == 1)
        #expect(refused.errors.first?.contains("line 2: not signed with this cluster's key") == true)
    }

    @Test(arguments: [
        (["issue", "a b"], "a person's name has"), (["issue", "alice", "--role", "root"], "--role"),
        (["issue", "alice", "--days", "0"], "--days takes"), (["revoke", "a/b"], "not a person's name"),
    ])
    func `a wrong name, role or time is one line of error`(words: [String], reason: String) async throws {
        let keys = try await IssuedKeys([])
        let ended = try await run(["key"] + words + ["--cluster-key", keys.cluster])
        #expect(ended.status == 2 && ended.output.isEmpty && ended.errors.count == 1)
        #expect(ended.errors.first?.contains(reason) == true, "\(ended.errors)")
    }
}
