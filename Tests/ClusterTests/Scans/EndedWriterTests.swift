import Foundation
import Glibc
import Testing

/// Commands that are ended while they write.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct EndedWriterTests {
    /// Waits until a process writes into a folder. It gives no other sign of that.
    private func untilWriting(_ process: RunningProcess, in folder: String) async throws {
        while !names(folder).contains(where: { $0.hasPrefix(".skynode-") }) {
            try #require(kill(process.pid, 0) == 0, "it has ended before: \(process.errorsSoFar)")
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    private func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private func series(in folder: ScratchFolder) -> [String] {
        ["synthesize", folder.file("sky.fits"), "--width", "3000", "--height", "3000", "--epochs", "2"]
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a command that a signal ends in the middle of a file leaves nothing of it`(signal: Int32) async throws {
        let folder = try ScratchFolder()
        let process = try RunningProcess(Skynode.path, series(in: folder))
        try await untilWriting(process, in: folder.path)
        // The shell sends a closed terminal's signal once more.
        for _ in 1...2 { process.send(signal) }
        let ended = await process.end()
        #expect(ended.status == -signal, "\(ended.errors)")
        let names = names(folder.path)
        #expect(!names.contains { $0.hasPrefix(".") }, "\(names)")
        #expect(names.count % 2 == 0, "an image and its truth come together: \(names)")
    }

    @Test func `nohup keeps a command going`() async throws {
        let folder = try ScratchFolder()
        let process = try RunningProcess(
            "/bin/sh", ["-c", "trap '' HUP; exec \"$0\" \"$@\"", Skynode.path] + series(in: folder))
        try await untilWriting(process, in: folder.path)
        process.send(SIGHUP)
        let ended = await process.end()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(names(folder.path).count == 4)
    }

    @Test(arguments: [[SIGHUP], [SIGINT, SIGINT], [SIGTERM, SIGHUP]])
    func `a scan that is ended while it writes leaves no temporary files, and its job goes on`(
        signals: [Int32]
    ) async throws {
        let folder = try ScratchFolder()
        let (image, out) = (folder.file("sky.fits"), folder.file("out"))
        let made = try await Skynode.run("synthesize", image, "--width", "2048", "--height", "2048")
        #expect(made.status == 0)
        try await RunningCluster.with(1, slots: 2) { cluster in
            let node = ["--node", cluster.addresses[0]]
            let process = try RunningProcess(
                Skynode.path,
                ["scan", image, "-o", out, "--check-image", "segmentation,background", "--format", "json"] + node)
            // Before the job there is a file for a moment, too: whether there can be one.
            for await line in process.lines where line.contains("\"event\":\"completed\"") { break }
            try await untilWriting(process, in: out)
            process.send(signals[0])
            if signals.count > 1 {
                // It has ended before where that was the last file.
                try? await process.untilErrors { $0.contains { $0.contains("leaves at once") } }
                process.send(signals[1])
            }
            let ended = await process.end()
            // After the first signal the files may be complete before the second one comes.
            let last = signals[signals.count - 1]
            #expect(ended.status == -last || signals.count > 1 && [0, 130].contains(ended.status), "\(ended.errors)")
            #expect(!names(out).contains { $0.hasPrefix(".") }, "\(names(out))")
            let job = try await Skynode.run(["jobs", "--format", "json"] + node)
            #expect(job.output.last?.contains("\"state\":\"done\"") == true, "\(job.output)")
        }
    }

    @Test func `a scan whose terminal is closed ends, and its job goes on`() async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        let made = try await Skynode.run("synthesize", image, "--width", "1024", "--height", "1024")
        #expect(made.status == 0)
        try await RunningCluster.with(1, slots: 1) { cluster in
            let node = ["--node", cluster.addresses[0]]
            let process = try RunningProcess(
                Skynode.path,
                ["scan", image, "-o", folder.file("out"), "--sector", "64", "--no-picture", "--format", "json"] + node)
            for await line in process.lines where line.contains("\"event\":\"completed\"") { break }
            process.send(SIGHUP)
            #expect(await process.end().status == -SIGHUP)
            let watched = try await Skynode.run(["jobs", "watch", "@last"] + node)
            #expect(watched.status == 0, "\(watched.errors)")
        }
    }
}
