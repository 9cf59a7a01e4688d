import Foundation
import Testing

/// Files that one machine has and the others do not: their pixels cross the wire.
@Suite(
    .timeLimit(.minutes(Skynode.minutes(4))),
    .enabled(if: HiddenFolder.obstacle == nil, "no folder can be hidden: \(HiddenFolder.obstacle ?? "")"))
struct PixelTests {
    private func scan(_ cluster: RunningCluster, _ images: [String], _ options: [String]) async throws -> [EventLine] {
        let ended = try await Skynode.run(
            ["scan"] + images + ["--node", cluster.addresses[0], "--format", "json"] + options)
        #expect(ended.status == 0, "\(ended.errors)")
        return ended.output.compactMap(EventLine.init).filter { $0.event == "ended" }
    }

    @Test(arguments: [16, -32])
    func `nodes without the file scan it too, and the catalogue is the same`(
        _ bitpix: Int
    ) async throws {
        let (frames, folder) = (try ScratchFolder(), try ScratchFolder())
        let image = frames.file("sky.fits")
        let made = try await Skynode.run(
            "synthesize", image, "--width", "1500", "--height", "1300", "--bitpix", "\(bitpix)", "--trails", "1",
            "--nan-block")
        #expect(made.status == 0)
        try await RunningCluster.with(3, slots: 1, hidden: frames.path) { cluster in
            for (name, more) in [("all", []), ("one", ["--use-node", "node1"]), ("other", ["--no-cache"])] {
                let options = ["--sector", "256", "--no-picture", "-o", folder.file(name)]
                let jobs = try await scan(
                    cluster, [image], options + more + (name == "one" ? ["--no-cache"] : []))
                let end = try #require(jobs.last)
                #expect(end.failed == 0)
                if name == "one" {
                    #expect(end.nodes?.keys.sorted() == ["node1"])
                } else {
                    let elsewhere = (end.nodes?["node2"] ?? 0) + (end.nodes?["node3"] ?? 0)
                    #expect(elsewhere > 0, "\(end.nodes ?? [:])")
                }
            }
        }
        for other in ["one", "other"] {
            for ending in ["csv", "cat.fits", "reg"] {
                #expect(
                    try folder.contents("all/sky.\(ending)") == folder.contents("\(other)/sky.\(ending)"),
                    "\(other)/sky.\(ending)")
            }
        }
    }

    @Test func `a detection image crosses the wire too, and the catalogue is the same`() async throws {
        let (frames, folder) = (try ScratchFolder(), try ScratchFolder())
        for (name, stars) in [("deep.fits", "900"), ("band.fits", "300")] {
            let made = try await Skynode.run(
                "synthesize", frames.file(name), "--width", "1200", "--height", "1100", "--stars", stars, "--seed", "3")
            #expect(made.status == 0)
        }
        try await RunningCluster.with(3, slots: 1, hidden: frames.path) { cluster in
            for (name, more) in [("all", ["--sector", "256"]), ("one", ["--sector", "512", "--use-node", "node1"])] {
                let jobs = try await scan(
                    cluster, [frames.file("band.fits")],
                    ["--detect", frames.file("deep.fits"), "--no-picture", "--no-cache", "-o", folder.file(name)] + more
                )
                let end = try #require(jobs.last)
                let elsewhere = (end.nodes?["node2"] ?? 0) + (end.nodes?["node3"] ?? 0)
                #expect(end.failed == 0 && (elsewhere > 0) == (name == "all"), "\(end.nodes ?? [:])")
            }
        }
        let catalogue = try folder.contents("all/band.reg")
        #expect(try folder.contents("one/band.reg") == catalogue && catalogue.count > 5000)
    }

    @Test func `weights and compared images cross the wire too`() async throws {
        let (frames, folder) = (try ScratchFolder(), try ScratchFolder())
        let made = try await Skynode.run(
            "synthesize", frames.file("sky.fits"), "--width", "640", "--height", "640", "--epochs", "2",
            "--transients", "8")
        #expect(made.status == 0)
        let (new, old) = (frames.file("sky_e1.fits"), frames.file("sky_e0.fits"))
        try await RunningCluster.with(2, slots: 1, hidden: frames.path) { cluster in
            for (name, only) in [("both", []), ("one", ["--use-node", "node1"])] {
                let jobs = try await scan(
                    cluster, [new],
                    ["--reference", old, "--weight", new, "--sector", "64", "--no-picture", "--no-cache"]
                        + ["-o", folder.file(name)] + only)
                // The four jobs are the reference, the image, the differences and their pictures.
                #expect(jobs.count == 4 && jobs.allSatisfy { $0.failed == 0 })
                // The two scans have a hundred sectors each, so that they last until the second node's worker has started on a busy
                // machine, too; what follows may be one task, which either takes.
                let hands = jobs.filter { $0.nodes?["node2"] != nil }.count
                #expect(only.isEmpty ? hands >= 2 : hands == 0, "\(jobs.map { $0.nodes ?? [:] })")
            }
        }
        for ending in ["csv", "changes.csv"] {
            #expect(
                try folder.contents("both/sky_e1.\(ending)") == folder.contents("one/sky_e1.\(ending)"), "\(ending)")
        }
    }

    @Test func `a scan ends with the name of the killed node if only that had the file`() async throws {
        let (frames, folder) = (try ScratchFolder(), try ScratchFolder())
        let image = frames.file("sky.fits")
        let made = try await Skynode.run("synthesize", image, "--width", "2048", "--height", "2048")
        #expect(made.status == 0)
        try await RunningCluster.with(3, slots: 1, hidden: frames.path) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                [
                    "scan", image, "--node", cluster.addresses[1], "--sector", "128", "--no-picture", "--format",
                    "json",
                    "-o", folder.file("out"),
                ])
            var completed = 0
            for await line in process.lines where EventLine(line)?.event == "completed" {
                completed += 1
                if completed == 100 { cluster.nodes[0].send(SIGKILL) }
            }
            let end = await process.end()
            #expect(end.status != 0)
            #expect(end.errors.contains { $0.contains("sky.fits") && $0.contains("node1") }, "\(end.errors)")
        }
    }
}
