import Foundation
import Glibc
import Testing

/// Commands that are to stop while their node does not answer, or cannot store anything.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct InterruptTests {
    /// Ends a command by Ctrl-C; prints how long that took, since no time of a busy machine is sure.
    private func interrupt(_ process: RunningProcess, _ what: String) async -> Ended {
        let start = ContinuousClock.now
        process.send(SIGINT)
        let ended = await process.end()
        print("Ctrl-C, \(what): \(start.duration(to: .now))")
        return ended
    }

    @Test(arguments: ["simulate --tasks 200 --duration 100ms", "scan"])
    func `Ctrl-C ends a command whose node is frozen, and says how to cancel its job`(command: String) async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        let made = try await Skynode.run("synthesize", image, "--width", "2048", "--height", "2048")
        #expect(made.status == 0)
        try await RunningCluster.with(1, slots: 1) { cluster in
            var arguments = command.split(separator: " ").map(String.init)
            if command == "scan" {
                // The job is too long to be done before the node is frozen, however busy the machine is.
                arguments += [image, "-o", folder.file("out"), "--sector", "64", "--no-picture", "--no-cache"]
            }
            let process = try RunningProcess(
                Skynode.path, arguments + ["--node", cluster.addresses[0], "--format", "json"])
            for await line in process.lines where line.contains("\"event\":\"completed\"") { break }
            let list = try await Skynode.run("jobs", "--node", cluster.addresses[0], "--format", "json")
            let job = try #require(list.output.last?.firstMatch(of: /"job":"([0-9a-f]+)"/)).1
            cluster.nodes[0].send(SIGSTOP)
            let ended = await interrupt(process, "frozen node")
            cluster.nodes[0].send(SIGCONT)
            #expect(ended.status == 130, "\(ended.errors)")
            #expect(ended.errors.contains { $0.contains("skynode jobs cancel \(job)") }, "\(ended.errors)")
            #expect(access(folder.file("out"), F_OK) == -1, "a folder that got nothing is gone")
        }
    }

    // Each case has its own disk, because the end of an earlier job frees room.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small disk"), arguments: ["text", "json"])
    func `a command whose node has a full disk says that it is paused, and Ctrl-C ends it`(format: String) async throws
    {
        let disk = try SmallDisk(megabytes: 8)
        try await RunningCluster.with(1, slots: 2, options: { _ in ["--data", disk.path + "/data"] }) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                [
                    "simulate", "--tasks", "20000", "--duration", "1ms", "--node", cluster.addresses[0], "--format",
                    format, "--verbose",
                ])
            try await process.untilErrors { _ in
                // The job has been submitted, and its tasks run.
                format == "json" || process.errorsSoFar.contains { $0.hasPrefix("Completed: ") }
            }
            if format == "json" {
                for await line in process.lines where line.contains("\"event\":\"completed\"") { break }
            }
            try disk.fill()
            if format == "json" {
                var reason: Substring?
                for await line in process.lines {
                    reason = line.firstMatch(of: /"event":"paused","reason":"([^"]*)"/)?.1
                    if reason != nil { break }
                }
                #expect(reason?.contains("no room on the disk") == true)
            } else {
                try await process.untilErrors { $0.contains { $0.hasPrefix("paused: ") } }
            }
            let listed = try await Skynode.run("jobs", "--node", cluster.addresses[0])
            #expect(listed.errors.contains { $0.contains("paused: ") && $0.contains("no room on the disk") })
            let ended = await interrupt(process, "full disk, \(format)")
            #expect(ended.status == 130)
            if !ended.errors.contains(where: { $0.contains("skynode jobs cancel ") }) {
                // What SQLite gives back was room enough for the cancellation now and then: the job has ended in order.
                let done = try await Skynode.run("jobs", "--node", cluster.addresses[0], "--format", "json")
                #expect(
                    done.output.contains { $0.contains("\"state\":\"cancelled\"") },
                    "\(ended.errors.suffix(5)) \(done.output)")
            }
        }
    }

    @Test func `commands that only ask a node end at once`() async throws {
        try await RunningCluster.with(1, slots: 1) { cluster in
            let job = try await Skynode.run(
                "simulate", "--tasks", "100", "--duration", "60s", "--node", cluster.addresses[0], "--detach")
            let id = try #require(job.output.last)
            for command in [["jobs", "watch", id, "--format", "json"], ["nodes", "--watch"]] {
                let process = try RunningProcess(Skynode.path, command + ["--node", cluster.addresses[0]])
                if command[0] == "nodes" { for await _ in process.lines { break } }
                cluster.nodes[0].send(SIGSTOP)
                let ended = await interrupt(process, command[0])
                cluster.nodes[0].send(SIGCONT)
                #expect(ended.status == -SIGINT || ended.status == 130)
            }
        }
    }
}
