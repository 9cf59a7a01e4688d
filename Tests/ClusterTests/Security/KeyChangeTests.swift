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

    @Test func `--accept-key needs --cluster-key`() async throws {
        let folder = try ScratchFolder()
        let key = folder.file("a.key")
        #expect(try await Skynode.run("key", "new", "--output", key).status == 0)
        let ended = try await Skynode.run("nodes", "--accept-key", key, "--no-multicast")
        #expect(ended.status == 2)
        #expect(ended.errors == ["skynode: --accept-key goes with --cluster-key: a node has one key of its own"])
    }
}
