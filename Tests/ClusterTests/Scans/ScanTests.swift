import Foundation
import Glibc
import Testing

/// Real images, real daemons, real worker processes.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(5)))) struct ScanTests {
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
            #expect(EventLine.end(of: sectors.output)?.nodes?.count == 3, "all three nodes had a part")
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

    @Test func `a scan of a synthetic sky on three nodes finds the sources of a whole-image scan`() async throws {
        let folder = try ScratchFolder()
        // It has 256 sectors, so that it lasts until each node has workers, also on a busy machine.
        try await compare(try await sky(in: folder, size: 2048, seed: 11), stem: "sky", sector: 128, in: folder)
    }

    @Test(arguments: [[], ["--no-cache"]])
    func `results that are fetched later have the bytes of a command that waited`(options: [String]) async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 256, seed: 12)
        try await RunningCluster.with(1, slots: 2) { cluster in
            let node = ["--node", cluster.addresses[0]]
            let waited = try await Skynode.run(
                ["scan", image, "--no-picture", "-o", folder.file("now")] + options + node)
            #expect(waited.status == 0, "\(waited.errors)")
            func fetch(_ name: String) async throws {
                let submitted = try await Skynode.run(["scan", image, "--no-picture", "--detach"] + options + node)
                let job = try #require(submitted.output.last, "\(submitted.errors)")
                #expect(try await Skynode.run(["jobs", "watch", job] + node).status == 0)
                if name == "changed" {
                    // The file now holds something else than what was scanned.
                    let bytes = try folder.contents("sky.fits")
                    try Data(bytes.dropLast(2880) + [UInt8](repeating: 0, count: 2880)).write(
                        to: URL(fileURLWithPath: image))
                }
                let fetched = try await Skynode.run(["jobs", "results", job, "-o", folder.file(name)] + node)
                #expect(fetched.status == 0, "\(fetched.errors)")
            }
            func holdsDigest(_ name: String) throws -> Bool {
                String(decoding: try folder.contents(name + "/sky.cat.fits"), as: UTF8.self).contains("SHA256  = '")
            }
            try await fetch("later")
            for name in ["sky.csv", "sky.cat.fits", "sky.reg"] {
                #expect(try folder.contents("later/" + name) == folder.contents("now/" + name), "\(name)")
            }
            guard options == ["--no-cache"] else { return }
            #expect(try holdsDigest("later"))
            try await fetch("changed")
            #expect(try !holdsDigest("changed"))
        }
    }

    @Test(.enabled(if: access(jamesWebb, R_OK) == 0, "the James Webb frame is not beside the package"))
    func `a scan of the James Webb frame on three nodes finds the sources of a whole-image scan`() async throws {
        let folder = try ScratchFolder()
        try await compare(
            Self.jamesWebb, stem: "jw01324001001-01324-o001_t001_f200w", sector: 256, in: folder)
    }

    @Test func `new sources of a second epoch are reported, and movers through three epochs are linked`() async throws {
        let folder = try ScratchFolder()
        let made = try await Skynode.run(
            "synthesize", folder.file("sky.fits"), "--width", "900", "--height", "800", "--epochs", "3", "--transients",
            "16", "--movers", "8", "--interval", "1h", "--seed", "8")
        #expect(made.status == 0)
        try await RunningCluster.with(2, slots: 1) { cluster in
            let ended = try await Skynode.run(
                "scan", folder.file("sky_e1.fits"), folder.file("sky_e2.fits"), "--reference",
                folder.file("sky_e0.fits"),
                "-o", folder.file("out"), "--node", cluster.addresses[0], "--sector", "384", "--no-picture",
                "--difference",
                "--format", "json")
            #expect(ended.status == 0, "\(ended.errors)")
            for epoch in 1...2 {
                let path = folder.file("out/sky_e\(epoch).difference.fits")
                #expect(access(path, R_OK) == 0)
                #expect(
                    ended.output.contains {
                        $0.contains("\"difference\":") && $0.contains("sky_e\(epoch).difference.fits")
                    })
            }
            let without = try await Skynode.run("scan", folder.file("sky_e1.fits"), "--difference")
            #expect(without.status == 2 && without.errors == ["skynode: --difference goes with --reference"])
            // The files of an image take their names all or none: a difference that has no place is found before the scan.
            let name = "blocked/sky_e1.difference.fits"
            try FileManager.default.createDirectory(
                atPath: folder.file(name + "/kept"), withIntermediateDirectories: true)
            let blocked = try await Skynode.run(
                "scan", folder.file("sky_e1.fits"), "--reference", folder.file("sky_e0.fits"), "--difference",
                "-o", folder.file("blocked/"), "--node", cluster.addresses[0], "--no-picture")
            #expect(blocked.status == 2 && blocked.errors.count { $0.contains(name) } == 1, "\(blocked.errors)")
            #expect(blocked.output.isEmpty, "\(blocked.output)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("blocked")).count == 1)
            let free = try await Skynode.run(
                "scan", folder.file("sky_e1.fits"), "--reference", folder.file("sky_e0.fits"), "--difference",
                "-o", folder.file("free/"), "--node", cluster.addresses[0], "--no-picture")
            #expect(free.status == 0, "\(free.errors)")
            #expect(free.output.contains("wrote " + folder.file("free/sky_e1.changes.csv")), "\(free.output)")
            #expect(free.output.contains { $0.contains("free/sky_e1.difference.fits") }, "\(free.output)")
            let jobs = try await Skynode.run("jobs", "list", "--node", cluster.addresses[0])
            #expect(jobs.output.contains { $0.contains("sky_e1.fits against") })
            let last = try await Skynode.run(
                "jobs", "results", "@last", "-o", folder.file("last"), "--node", cluster.addresses[0])
            #expect(last.status == 0, "not the comparison, which came after the scan: \(last.errors)")
            #expect(try folder.contents("last/sky_e1.csv") == folder.contents("free/sky_e1.csv"))
        }
        for epoch in 1...2 {
            let changes = try places(folder, "out/sky_e\(epoch).changes.csv", "X_IMAGE", "Y_IMAGE", "KIND")
            let truth = try places(folder, "sky_e\(epoch)_truth.csv", "x", "y", "kind")
            let before = try places(folder, "sky_e0_truth.csv", "x", "y", "kind")
            #expect(before.count > 100 && truth.count > 100)
            // Every mover that was bright in both frames is found at its position.
            let movers = truth.filter { $0.kind == "mover" && (40..<860).contains($0.x) && (40..<760).contains($0.y) }
            let found = movers.filter { mover in
                changes.contains { abs($0.x - mover.x) < 2.5 && abs($0.y - mover.y) < 2.5 }
            }
            #expect(movers.count >= 4, "the seed is one with movers inside both frames")
            #expect(found.count * 2 >= movers.count, "\(found.count) of \(movers.count) movers")
            // Nearly all reported changes are real ones.
            let unfounded = changes.filter { change in
                change.kind == "appeared"
                    && !truth.contains { abs($0.x - change.x) < 3 && abs($0.y - change.y) < 3 }
            }
            #expect(unfounded.count <= 1, "\(unfounded)")
            #expect(changes.contains { $0.kind == "moved" })
        }
        let page = String(decoding: try folder.contents("out/sky_e2.changes.html"), as: UTF8.self)
        #expect(page.contains("<h2>Tracks</h2>") && page.contains("data:image/png;base64,"))
    }

    /// Columns of a table with a line of names.
    private func places(
        _ folder: ScratchFolder, _ name: String, _ x: String, _ y: String, _ kind: String
    ) throws -> [(x: Double, y: Double, kind: String)] {
        let rows = String(decoding: try folder.contents(name), as: UTF8.self).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        let names = try #require(rows.first).split(separator: ",").map(String.init)
        let columns = try [x, y, kind].map { try #require(names.firstIndex(of: $0)) }
        return try rows.dropFirst().map { row in
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            return (
                try #require(Double(cells[columns[0]])), try #require(Double(cells[columns[1]])),
                String(cells[columns[2]])
            )
        }
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
            let end = try #require(EventLine.end(of: storm.output))
            #expect(end.failed == 0 && end.completed == 129)
        }
        for ending in ["csv", "cat.fits", "reg"] {
            #expect(
                try folder.contents("calm/sky.\(ending)") == folder.contents("storm/sky.\(ending)"), "sky.\(ending)")
        }
    }

    @Test func `a repeated scan is answered from earlier results, and the catalogue is the same`() async throws {
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
                for ending in ["csv", "cat.fits", "reg", "jpg"] {
                    #expect(
                        try folder.contents("first/sky.\(ending)") == folder.contents("\(other)/sky.\(ending)"),
                        "\(other)/sky.\(ending)")
                }
            }
            #expect(try folder.contents("first/sky.csv") != folder.contents("brighter/sky.csv"))
            let storage = try await Skynode.run("jobs", "storage", "--here", "--node", node)
            #expect(storage.status == 0 && storage.output.first?.hasPrefix("5 jobs and ") == true, "\(storage.output)")
            #expect(
                storage.output.contains { $0.contains("they answered \(66 + (brighter.cached ?? 0)) of") },
                "\(storage.output)")
        }
    }

    @Test func `--keep-partial writes the finished part of a cancelled scan`() async throws {
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
        let image = try await sky(in: folder, size: 2048, seed: 2)
        try await RunningCluster.with(1, slots: 1) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                [
                    "scan", image, "--node", cluster.addresses[0], "-o", folder.file("out"), "--sector", "64",
                    "--no-picture", "--format", "json",
                ])
            var retried = 0
            // Never twice in the same task, because a task that seems to kill its workers is given up.
            var (hurt, since) = (nil as String?, 200)
            for await line in process.lines {
                guard let event = EventLine(line) else { continue }
                if event.event == "retrying" { (hurt, retried) = (event.task, retried + 1) }
                guard event.event == "completed" else { continue }
                since += 1
                if event.task == hurt { hurt = nil }
                // Where it had nothing to do just then, nothing is retried, and another one is killed. On a busy machine many lines come
                // that were written before the first one's end.
                if retried < 2, hurt == nil, since > 200, let worker = cluster.workers(of: 0).first {
                    kill(worker, SIGKILL)
                    since = 0
                }
            }
            let ended = await process.end()
            #expect(retried == 2)
            #expect(ended.status == 0)
            let end = try #require(EventLine.end(of: ended.output))
            #expect(end.failed == 0 && end.retried == 2)
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
                "merged.cat.fits", "merged.csv", "merged.reg", "sky.cat.fits", "sky.csv", "sky.reg",
            ])
        let merged = String(decoding: try folder.contents("out/merged.csv"), as: UTF8.self).split(separator: "\n")
        #expect(merged[0].hasSuffix(",FILE") && merged.dropFirst().allSatisfy { $0.hasSuffix("sky.fits") })
    }

    /// Puts the frame of a file with one image twice into extensions of one.
    private func twice(_ file: String, to path: String) throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        let cards = (0..<whole.count / 80).lazy.map { String(decoding: whole[$0 * 80..<$0 * 80 + 80], as: UTF8.self) }
        let header = Array(cards.prefix { !$0.hasPrefix("END ") })
        let start = ((header.count + 1) * 80 + 2879) / 2880 * 2880
        func block(_ cards: [String]) -> Data {
            let text = (cards + ["END"]).map { $0.padding(toLength: 80, withPad: " ", startingAt: 0) }.joined()
            let size = (text.utf8.count + 2879) / 2880 * 2880
            return Data(text.padding(toLength: size, withPad: " ", startingAt: 0).utf8)
        }
        func number(_ key: String, _ value: String) -> String {
            key.padding(toLength: 8, withPad: " ", startingAt: 0) + "= "
                + String(repeating: " ", count: 20 - value.count) + value
        }
        var file = block([number("SIMPLE", "T"), number("BITPIX", "8"), number("NAXIS", "0"), number("EXTEND", "T")])
        for _ in 0..<2 {
            let axes = header.filter { $0.hasPrefix("BITPIX") || $0.hasPrefix("NAXIS") }
            let rest = header.filter { card in
                !["SIMPLE", "BITPIX", "NAXIS", "EXTEND"].contains { card.hasPrefix($0) }
            }
            let counts = [number("PCOUNT", "0"), number("GCOUNT", "1")]
            file += block(["XTENSION= 'IMAGE   '"] + axes + counts + rest) + whole[start...]
        }
        try file.write(to: URL(fileURLWithPath: path))
    }

    @Test func `all images of folders and files are scanned, and one more catalogue has all sources`() async throws {
        let folder = try ScratchFolder()
        let single = try await sky(in: folder, size: 256, seed: 3)
        try FileManager.default.createDirectory(atPath: folder.file("in"), withIntermediateDirectories: true)
        try twice(single, to: folder.file("in/two.fits"))
        try FileManager.default.copyItem(atPath: single, toPath: folder.file("in/one.fits"))
        let scan = try await Skynode.run(
            "scan", folder.file("in"), "-o", folder.file("out"), "--no-picture", "--slots", "2", "--no-multicast",
            "--format-catalogue", "csv,votable")
        #expect(scan.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).sorted()
        #expect(
            names
                == ["one", "two-hdu1", "two-hdu2"].flatMap { ["\($0).csv", "\($0).vot"] }.sorted().reduce(
                    into: ["merged.csv", "merged.vot"]) { $0.append($1) }.sorted())
        let one = try positions(folder, "out/one.csv")
        #expect(one.count > 5)
        for name in ["two-hdu1", "two-hdu2"] {
            #expect(try positions(folder, "out/\(name).csv").map(\.x) == one.map(\.x))
        }
        let merged = String(decoding: try folder.contents("out/merged.csv"), as: UTF8.self).split(separator: "\n")
        #expect(merged.count == 1 + 3 * one.count)
        #expect(merged[1].hasSuffix("/in/one.fits") && merged[merged.count - 1].hasSuffix("/in/two.fits[2]"))

        // The same holds for one file with several images; one image of it gives one catalogue.
        for (arguments, files) in [
            ([], ["merged.csv", "two-hdu1.csv", "two-hdu2.csv"]), (["--no-merge"], ["two-hdu1.csv", "two-hdu2.csv"]),
            (["--hdu", "2"], ["two.csv"]),
        ] as [([String], [String])] {
            let output = folder.file("out\(files.count)")
            let scan = try await Skynode.run(
                ["scan", folder.file("in/two.fits"), "-o", output, "--no-picture", "--slots", "2", "--no-multicast"]
                    + ["--format-catalogue", "csv"] + arguments)
            #expect(scan.status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: output).sorted() == files)
        }
        let all = String(decoding: try folder.contents("out3/merged.csv"), as: UTF8.self).split(separator: "\n")
        #expect(all.count == 1 + 2 * one.count)

        // The first image's failure is no reason to leave the others.
        let failing = try await Skynode.run(
            "scan", folder.file("in/two.fits"), "-o", folder.file("none"), "--slots", "1", "--no-multicast",
            "--fail-sector", "2")
        #expect(failing.status == 2)
        #expect(failing.errors.count { $0.contains("there is no sector 2") } == 2, "\(failing.errors)")
    }

    @Test func `the output's name chooses the format, and contradictions are refused before any work`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 256, seed: 3)
        let scan = try await Skynode.run(
            "scan", image, "-o", folder.file("new/cat.ecsv"), "--slots", "1", "--no-multicast", "--preset", "sensitive")
        #expect(scan.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new")) == ["cat.ecsv"])
        #expect(String(decoding: try folder.contents("new/cat.ecsv"), as: UTF8.self).hasPrefix("# %ECSV 1.0\n"))
        for _ in 0..<2 {
            let again = try await Skynode.run(
                "scan", image, "-o", folder.file("cat.fits"), "--slots", "1", "--no-multicast")
            #expect(again.status == 0, "a catalogue takes an older one's place: \(again.errors)")
        }
        for (arguments, word) in [
            (["-o", folder.file("a.csv"), "--format-catalogue", "csv,fits"], "one format"),
            (["--format-catalogue", "xlsx"], "xlsx"), (["--filter", "seeing", "--fwhm", "3"], "not both"),
            (["--aperture", "5,0"], "aperture diameter"), (["--fwhm", "99"], "FWHM"), (["--preset", "best"], "best"),
        ] {
            let refused = try await Skynode.run(["scan", image] + arguments)
            #expect(refused.status == 2, "\(arguments)")
            #expect(refused.errors.joined().contains(word), "\(arguments): \(refused.errors)")
        }
        let empty = try await Skynode.run("scan", folder.file("none*"))
        #expect(empty.status == 2 && empty.errors.joined().contains("no file has such a name"))
    }
}
