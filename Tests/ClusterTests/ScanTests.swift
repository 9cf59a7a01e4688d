import Foundation
import Glibc
import Testing

/// Real images, real daemons, real worker processes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ScanTests {
    private static let jamesWebb = Skynode.sharedFrame("jw01324001001-01324-o001_t001_f200w.fits.gz")

    /// A synthetic sky of the test's own.
    private func sky(in folder: ScratchFolder, size: Int, seed: Int) async throws -> String {
        let file = folder.file("sky.fits")
        let made = try await Skynode.run(
            "synthesize", file, "--width", "\(size)", "--height", "\(size)", "--seed", "\(seed)")
        #expect(made.status == 0)
        return file
    }

    /// Positions and number of a catalogue's sources.
    private func positions(_ folder: ScratchFolder, _ name: String) throws -> [(x: Double, y: Double)] {
        let rows = String(decoding: try folder.contents(name), as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        let header = try #require(rows.first).split(separator: ",")
        let x = try #require(header.firstIndex(of: "X_IMAGE"))
        let y = try #require(header.firstIndex(of: "Y_IMAGE"))
        return try rows.dropFirst().map { row in
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            return (try #require(Double(cells[x])), try #require(Double(cells[y])))
        }
    }

    /// Scans an image in sectors on three nodes and whole on one, and compares.
    private func compare(_ image: String, stem: String, sector: Int, in folder: ScratchFolder) async throws {
        try await RunningCluster.with(3, slots: 2) { cluster in
            let sectors = try await Skynode.run(
                "scan", image, "--node", cluster.addresses[0], "-o", folder.file("sectors"), "--sector", "\(sector)",
                "--no-picture", "--format", "json")
            #expect(sectors.status == 0)
            #expect(sectors.output.last.flatMap(EventLine.init)?.nodes?.count == 3, "all three nodes had a part")
            let whole = try await Skynode.run(
                "scan", image, "--node", cluster.addresses[1], "-o", folder.file("whole"), "--sector", "full",
                "--no-picture")
            #expect(whole.status == 0)
        }
        let inSectors = try positions(folder, "sectors/\(stem).csv")
        let whole = try positions(folder, "whole/\(stem).csv")
        #expect(!whole.isEmpty)
        #expect(inSectors.count == whole.count)
        // Both are in one order, by y and then x, so the pairs are those of equal place.
        for (one, other) in zip(inSectors, whole) {
            #expect(abs(one.x - other.x) <= 0.01 && abs(one.y - other.y) <= 0.01)
        }
    }

    @Test func `a synthetic sky scanned in sectors on three nodes has the sources of a whole-image scan`() async throws
    {
        let folder = try ScratchFolder()
        try await compare(try await sky(in: folder, size: 1024, seed: 11), stem: "sky", sector: 256, in: folder)
    }

    @Test(.enabled(if: access(jamesWebb, R_OK) == 0, "the James Webb frame is not beside the package"))
    func `the James Webb frame scanned in sectors on three nodes has the sources of a whole-image scan`() async throws {
        let folder = try ScratchFolder()
        try await compare(
            Self.jamesWebb, stem: "jw01324001001-01324-o001_t001_f200w", sector: 256, in: folder)
    }

    @Test func `kill -9 of a node in the middle of a scan changes nothing in the catalogue`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 2048, seed: 5)
        try await RunningCluster.with(3, slots: 2) { cluster in
            let scan = [
                "scan", image, "--node", cluster.addresses[0], "--sector", "256", "--no-picture", "--no-cache",
            ]
            let calm = try await Skynode.run(scan + ["-o", folder.file("calm")])
            #expect(calm.status == 0)

            let process = try RunningProcess(
                Skynode.path, scan + ["-o", folder.file("storm"), "--format", "json"])
            var completed = 0
            for await line in process.lines where EventLine(line)?.event == "completed" {
                completed += 1
                // Half of the 129 tasks: the third node is busy with its share.
                if completed == 65 { cluster.nodes[2].send(SIGKILL) }
            }
            let storm = await process.end()
            #expect(storm.status == 0)
            let end = try #require(storm.output.last.flatMap(EventLine.init))
            #expect(end.failed == 0 && end.completed == 129)
        }
        for ending in ["csv", "cat.fits", "reg"] {
            #expect(
                try folder.contents("calm/sky.\(ending)") == folder.contents("storm/sky.\(ending)"), "sky.\(ending)")
        }
    }

    @Test func `what was scanned before is answered from the store, and the catalogue is the same`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 1024, seed: 8)
        let copy = folder.file("copy.fits")
        try FileManager.default.copyItem(atPath: image, toPath: copy)
        try await RunningCluster.with(2, slots: 2) { cluster in
            let node = cluster.addresses[0]
            func scan(_ image: String, _ name: String, _ options: String...) async throws -> EventLine {
                let ended = try await Skynode.run(
                    ["scan", image, "--node", node, "--sector", "256", "-o", folder.file(name), "--format", "json"]
                        + options)
                #expect(ended.status == 0, "\(ended.errors)")
                return try #require(ended.output.compactMap(EventLine.init).last { $0.event == "ended" })
            }
            // A header, sixteen backgrounds, sixteen sectors, a picture.
            let first = try await scan(image, "first")
            #expect(first.completed == 34 && first.cached == 0)
            let second = try await scan(image, "second")
            #expect(second.completed == 34 && second.cached == 33, "all but the header")
            #expect(try await scan(copy, "copied").cached == 33, "the content counts, not the place")
            let brighter = try await scan(image, "brighter", "--threshold", "5", "--no-picture")
            #expect(brighter.completed == 33 && (brighter.cached ?? 99) < 33, "other parameters, other sectors")
            #expect(try await scan(image, "anew", "--no-cache").cached == 0)
            for other in ["second", "anew"] {
                for ending in ["csv", "cat.fits", "reg", "png"] {
                    #expect(
                        try folder.contents("first/sky.\(ending)") == folder.contents("\(other)/sky.\(ending)"),
                        "\(other)/sky.\(ending)")
                }
            }
            #expect(try folder.contents("first/sky.csv") != folder.contents("brighter/sky.csv"))
            let storage = try await Skynode.run("jobs", "storage", "--node", node)
            #expect(storage.status == 0 && storage.output.first?.hasPrefix("5 jobs and ") == true, "\(storage.output)")
            #expect(
                storage.output.last?.contains("they answered \(66 + (brighter.cached ?? 0)) of") == true,
                "\(storage.output)")
        }
    }

    @Test func `what is done of a cancelled scan is written where that is wanted`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 2048, seed: 6)
        try await RunningCluster.with(1, slots: 1) { cluster in
            for options in [["--keep-partial"], []] {
                let name = options.isEmpty ? "nothing" : "part"
                let process = try RunningProcess(
                    Skynode.path,
                    [
                        "scan", image, "--node", cluster.addresses[0], "-o", folder.file(name), "--sector", "128",
                        "--no-picture", "--no-cache", "--format", "json",
                    ] + options)
                var sectors = 0
                for await line in process.lines where EventLine(line)?.event == "sector" {
                    sectors += 1
                    if sectors == 3 { process.send(SIGINT) }
                }
                let ended = await process.end()
                #expect(ended.status == 130)
            }
        }
        let rows = String(decoding: try folder.contents("part/sky.csv"), as: UTF8.self).split(separator: "\n").count
        #expect(rows > 1, "a heading and sources")
        #expect(!FileManager.default.fileExists(atPath: folder.file("nothing/sky.csv")))
    }

    @Test func `a worker process that dies costs one attempt, not its node`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 1024, seed: 2)
        try await RunningCluster.with(1, slots: 1) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                [
                    "scan", image, "--node", cluster.addresses[0], "-o", folder.file("out"), "--sector", "128",
                    "--no-picture", "--format", "json",
                ])
            var killed = 0
            for await line in process.lines where EventLine(line)?.event == "completed" {
                if killed < 2, let worker = cluster.workers(of: 0).first {
                    kill(worker, SIGKILL)
                    killed += 1
                }
            }
            let ended = await process.end()
            #expect(killed == 2)
            #expect(ended.status == 0)
            let end = try #require(ended.output.last.flatMap(EventLine.init))
            #expect(end.failed == 0 && (end.retried ?? 0) >= 1)
            #expect(try await Skynode.run("nodes", "--node", cluster.addresses[0]).status == 0)
        }
    }

    @Test func `the workers of a killed daemon end by themselves`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 512, seed: 2)
        try await RunningCluster.with(1, slots: 2) { cluster in
            let scan = try await Skynode.run(
                "scan", image, "--node", cluster.addresses[0], "-o", folder.file("out"), "--sector", "128",
                "--no-picture")
            #expect(scan.status == 0)
            let workers = cluster.workers(of: 0)
            #expect(!workers.isEmpty)
            cluster.nodes[0].send(SIGKILL)
            _ = await cluster.nodes[0].end()
            let limit = ContinuousClock.now + .seconds(10)
            while workers.contains(where: { kill($0, 0) == 0 }), ContinuousClock.now < limit { await Task.yield() }
            #expect(workers.allSatisfy { kill($0, 0) == -1 })
        }
    }

    @Test func `several images give a catalogue each, and a bad one disturbs no other`() async throws {
        let folder = try ScratchFolder()
        let good = try await sky(in: folder, size: 256, seed: 3)
        let bytes = try folder.contents("sky.fits")
        let bad = folder.file("cut.fits")
        try bytes.prefix(100_000).write(to: URL(fileURLWithPath: bad))
        let ended = try await Skynode.run(
            "scan", good, bad, "-o", folder.file("out"), "--slots", "2", "--no-multicast", "--no-picture")
        #expect(ended.status == 2)
        #expect(ended.errors.contains { $0.contains("cut.fits: truncated") })
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).sorted() == [
                "sky.cat.fits", "sky.csv", "sky.reg",
            ])
    }
}
