import Foundation
import Glibc
import Testing

/// The limits of people with credentials, and their shares, at real nodes.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(4)))) struct QuotaTests {
    private struct Job: Decodable {
        var job: String
        var state: String
        var reason: String?
        var submitter: String?
        var running: Int
        var completed: Int
        var limits: [String: Int]?
    }

    private func run(_ words: [String]) async throws -> Ended { try await Skynode.run(words) }

    private func simulate(_ tasks: Int, _ duration: String) -> [String] {
        ["simulate", "--tasks", "\(tasks)", "--duration", duration, "--detach"]
    }

    private func submit(_ options: [String], _ tasks: Int = 1000, _ duration: String = "1s") async throws -> String {
        let submitted = try await run(simulate(tasks, duration) + options)
        #expect(submitted.status == 0, "\(submitted.errors)")
        return try #require(submitted.output.first)
    }

    private func jobs(_ options: [String]) async throws -> [Job] {
        let listed = try await run(["jobs", "--format", "json"] + options)
        #expect(listed.status == 0)
        return try listed.output.map { try JSONDecoder().decode(Job.self, from: Data($0.utf8)) }
    }

    /// Runs a cluster with a key, and credentials under it that have these limits.
    private func with(
        _ nodes: Int, slots: Int, _ people: [String: [String]],
        _ body: (RunningCluster, IssuedKeys) async throws -> Void
    ) async throws {
        let keys = try await IssuedKeys([("olga", "operator")])
        for (name, limits) in people { try await keys.issue(name, "user", as: name, limits) }
        try await RunningCluster.with(
            nodes, slots: slots, options: { _ in ["--cluster-key", keys.cluster] },
            keys: ["--cluster-key", keys.cluster]
        ) { try await body($0, keys) }
    }

    @Test func `one job too many is refused with one line, also after a restart of the node`() async throws {
        try await with(1, slots: 1, ["alice": ["--jobs", "2"], "bob": []]) { cluster, keys in
            let (alice, bob) = (keys.of("alice", cluster.addresses[0]), keys.of("bob", cluster.addresses[0]))
            let first = try await submit(alice)
            _ = try await submit(alice)
            let refused = try await run(simulate(1, "1s") + alice)
            #expect(refused.status != 0 && refused.output.isEmpty && refused.errors.count == 1)
            let words = "alice may have 2 jobs at once, and 2 go on; another is taken when one of them has ended"
            #expect(refused.errors.first?.contains(words) == true, "\(refused.errors)")
            #expect(try await jobs(alice).count == 2)
            _ = try await submit(bob)
            // With another credential she has other limits, and what goes on counts.
            try await keys.issue("alice", "user", as: "more", ["--jobs", "3"])
            _ = try await submit(keys.of("more", cluster.addresses[0]))
            #expect(try await run(simulate(1, "1s") + keys.of("more", cluster.addresses[0])).status != 0)

            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            let (node, address) = try await RunningCluster.start(
                1, 1, cluster.multicast, cluster.state, ["--cluster-key", keys.cluster])
            let again = try await run(simulate(1, "1s") + keys.of("alice", address))
            #expect(again.status != 0 && again.errors.first?.contains("alice may have 2 jobs at once") == true)
            for job in try await jobs(keys.of("alice", address)) where job.job != first {
                #expect(try await run(["jobs", "cancel", job.job] + keys.of("alice", address)).status == 0)
            }
            _ = try await submit(keys.of("alice", address))
            await RunningCluster.stop([node])
        }
    }

    @Test func `a night of more images than a person may have jobs is scanned to its end`() async throws {
        let (frames, out) = (try ScratchFolder(), try ScratchFolder())
        let made = try await run(
            ["synthesize", frames.file("sky.fits"), "--width", "900", "--height", "800", "--epochs", "6"])
        #expect(made.status == 0)
        let images = (0..<6).map { frames.file("sky_e\($0).fits") }
        try await with(1, slots: 2, ["alice": ["--jobs", "1"]]) { cluster, keys in
            let alice = keys.of("alice", cluster.addresses[0])
            // Until this job of another command has ended, nothing of the night is taken.
            let other = try await submit(alice, 1, "2s")
            let options = ["--no-cache", "--no-picture", "--reference", images[0], "-o", out.file("o")] + alice
            let scanned = try await run(["scan"] + images.dropFirst() + options)
            #expect(scanned.status == 0, "\(scanned.errors)")
            let waits = scanned.errors.filter { $0.contains("alice may have 1 job at once, and 1 goes on") }
            #expect(waits.count == 1 && waits.first?.hasPrefix("skynode: waiting: ") == true, "\(scanned.errors)")
            for number in 1..<6 {
                #expect(!(try out.contents("o/sky_e\(number).csv").isEmpty))
                #expect(!(try out.contents("o/sky_e\(number).changes.csv").isEmpty))
            }
            #expect(try await jobs(alice).first { $0.job == other }?.state == "done")
            let rounds = try await run(["simulate", "--tasks", "1", "--duration", "1ms", "--repeat", "3"] + alice)
            #expect(rounds.status == 0, "\(rounds.errors)")
        }
    }

    @Test func `a person with slots holds them at most, whatever the cluster has`() async throws {
        try await with(2, slots: 4, ["alice": ["--slots", "3"]]) { cluster, keys in
            let (alice, olga) = (keys.of("alice", cluster.addresses[0]), keys.of("olga", cluster.addresses[0]))
            var ids: [String] = []
            for _ in 0..<3 { ids.append(try await submit(alice, 10_000, "20ms")) }
            let end = ContinuousClock.now + .seconds(5)
            var most = 0
            while ContinuousClock.now < end {
                let running = try await jobs(olga).reduce(0) { $0 + $1.running }
                #expect(running <= 3)
                most = max(most, running)
            }
            #expect(most == 3)
            let why = try await run(["jobs", "why", ids[2]] + alice)
            #expect(
                why.output.contains { $0.contains("for a slot of alice's: their jobs may hold 3 slots and hold 3") },
                "\(why.output)")
            let shown = try await run(["jobs", "show", ids[0]] + alice)
            #expect(shown.output.contains("by         alice; at most 3 slots"), "\(shown.output)")
            let line = try await run(["jobs", "show", ids[0], "--format", "json"] + alice)
            let job = try JSONDecoder().decode(Job.self, from: Data(try #require(line.output.first).utf8))
            #expect(job.limits == ["slots": 3] && job.submitter == "alice")
            // The others are for others, at once.
            let other = try await submit(["--cluster-key", keys.cluster, "--node", cluster.addresses[0]], 100, "10s")
            var running = 0
            let limit = ContinuousClock.now + .seconds(20)
            while running < 5, ContinuousClock.now < limit {
                running = try await jobs(olga).first { $0.job == other }?.running ?? 0
            }
            #expect(running == 5)
        }
    }

    @Test func `two people with one and ten jobs get the same share`() async throws {
        try await with(1, slots: 4, ["alice": [], "bob": []]) { cluster, keys in
            let address = cluster.addresses[0]
            for _ in 0..<10 { _ = try await submit(keys.of("bob", address), 100_000, "40ms") }
            let single = try await submit(keys.of("alice", address), 100_000, "40ms")
            func completed() async throws -> (alice: Int, bob: Int) {
                let jobs = try await jobs(keys.of("olga", address))
                #expect(jobs.count == 11 && jobs.allSatisfy { $0.state == "running" })
                return (
                    jobs.filter { $0.submitter == "alice" }.reduce(0) { $0 + $1.completed },
                    jobs.filter { $0.submitter == "bob" }.reduce(0) { $0 + $1.completed }
                )
            }
            let before = try await completed()
            var after = before
            let limit = ContinuousClock.now + .seconds(60)
            while after.alice + after.bob - before.alice - before.bob < 600, ContinuousClock.now < limit {
                after = try await completed()
            }
            let (alice, bob) = (after.alice - before.alice, after.bob - before.bob)
            print("alice \(alice), bob \(bob)")
            #expect(alice + bob >= 600 && abs(alice - bob) * 5 <= min(alice, bob), "alice \(alice), bob \(bob)")
            let why = try await run(["jobs", "why", single] + keys.of("alice", address))
            #expect(why.output.contains { $0.contains("the slots are shared by 2 people") }, "\(why.output)")
        }
    }

    @Test func `whoever stores too much is refused, and is shown what to delete`() async throws {
        try await with(1, slots: 4, ["alice": ["--bytes", "4K"], "bob": []]) { cluster, keys in
            let (alice, bob) = (keys.of("alice", cluster.addresses[0]), keys.of("bob", cluster.addresses[0]))
            let large = try await submit(alice, 40, "1ms")
            #expect(try await run(["jobs", "watch", large] + alice).status == 0)
            // Another job waits in the middle, and goes on when the first is deleted.
            let next = try await submit(alice, 40, "50ms")
            var waiting: Job?
            let limit = ContinuousClock.now + .seconds(20)
            while waiting?.state != "paused", ContinuousClock.now < limit {
                waiting = try await jobs(alice).first { $0.job == next }
            }
            #expect(waiting?.state == "paused" && waiting?.reason?.contains("may store 4096 bytes") == true)
            let refused = try await run(simulate(1, "1ms") + alice)
            #expect(refused.status != 0 && refused.output.isEmpty && refused.errors.count == 1)
            #expect(refused.errors.first?.contains("delete some of them (the largest is \(large), ") == true)
            let storage = try await run(["jobs", "storage"] + alice)
            #expect(storage.output.contains { $0.hasPrefix("by alice: about ") && $0.contains(" in 2 jobs") })
            #expect(!(try await run(["jobs", "storage"] + bob).output.contains { $0.hasPrefix("by ") }))
            #expect(try await run(["jobs", "delete", large] + alice).status == 0)
            #expect(try await run(["jobs", "watch", next] + alice).status == 0)
            // One that can never end within the limit fails instead of waiting.
            #expect(try await run(["jobs", "delete", next] + alice).status == 0)
            let endless = try await run(["simulate", "--tasks", "500", "--duration", "1ms"] + alice)
            #expect(endless.status != 0)
            #expect((endless.output + endless.errors).contains { $0.contains("alone takes") }, "\(endless)")
        }
    }

    @Test func `a credential shows its limits, and only a user has some`() async throws {
        let keys = try await IssuedKeys([])
        try await keys.issue("alice", "user", as: "alice", ["--slots", "4", "--jobs", "10", "--bytes", "20G"])
        let shown = try await run(["key", "show", keys.folder.file("alice")])
        #expect(shown.output.contains("limits       at most 4 slots, 10 jobs at once, 20.0 GiB stored"))
        for (words, reason) in [
            (["olga", "--role", "operator", "--slots", "4"], "an operator has no limits"),
            (["alice", "--slots", "0"], "--slots takes a number from 1 to 1048576"),
            (["alice", "--jobs", "1000001"], "--jobs takes a number from 1 to 1000000"),
            (["alice", "--bytes", "0"], "--bytes takes a size from 1 to 1024T"),
            (["alice", "--bytes", "2000T"], "--bytes takes a size from 1 to 1024T"),
            (["alice", "--bytes", "x"], "--bytes"),
        ] {
            let refused = try await run(["key", "issue"] + words + ["--cluster-key", keys.cluster])
            #expect(refused.status == 2 && refused.output.isEmpty && refused.errors.count == 1, "\(refused)")
            #expect(refused.errors.first?.contains(reason) == true, "\(refused.errors)")
        }
    }
}
