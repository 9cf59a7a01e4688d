import Foundation
import Glibc
import Testing

/// Many images at once: what remains of a stopped batch, and files whose names cannot be printed.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct BatchTests {
    private func images(_ count: Int, size: Int, in folder: ScratchFolder) async throws -> [String] {
        let first = folder.file("sky0.fits")
        let made = try await Skynode.run("synthesize", first, "--width", "\(size)", "--height", "\(size)")
        #expect(made.status == 0)
        return try (0..<count).map { number in
            let file = folder.file("sky\(number).fits")
            if number > 0 { try FileManager.default.copyItem(atPath: first, toPath: file) }
            return file
        }
    }

    @Test(arguments: [[], ["--keep-partial"]])
    func `a batch that is stopped says what it has written, and leaves no catalogue that looks whole`(
        options: [String]
    ) async throws {
        let folder = try ScratchFolder()
        let files = try await images(8, size: 512, in: folder)
        try await RunningCluster.with(1, slots: 1) { cluster in
            let process = try RunningProcess(
                Skynode.path,
                ["scan"] + files + [
                    "-o", folder.file("out"), "--node", cluster.addresses[0], "--sector", "128", "--no-picture",
                    "--no-cache", "--format", "json",
                ] + options)
            var wasStopped = false
            for await line in process.lines where line.contains("\"event\":\"ended\"") && !wasStopped {
                wasStopped = true
                process.send(SIGINT)
            }
            let ended = await process.end()
            #expect(ended.status == 130)
            let words = try #require(ended.errors.last)
            let scanned = try #require(words.firstMatch(of: /cancelled: (\d+) of 8 images were scanned/)?.1)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file("out"))) ?? []
            let whole = names.filter { $0.hasPrefix("sky") && $0.hasSuffix(".csv") }
            #expect(options.isEmpty ? whole.count == Int(scanned) : whole.count >= Int(scanned) ?? 0, "\(names)")
            #expect(!ended.errors.contains { $0.contains("nothing was written") } || scanned == "0", "\(ended.errors)")
            #expect(!names.contains { $0.hasPrefix("merged.") && !$0.hasPrefix("merged.partial.") }, "\(names)")
            #expect(names.contains("merged.partial.csv") == !options.isEmpty, "\(names)")
            #expect(!names.contains { $0.hasPrefix(".skynode-") }, "no temporary is left: \(names)")
        }
    }

    @Test func `a file whose name is not valid text is named, and the others are scanned`() async throws {
        let folder = try ScratchFolder()
        let files = try await images(2, size: 64, in: folder)
        let copied = try await Skynode.shell("cp '\(files[0])' \"$(printf '\(folder.path)/caf\\351.fits')\"")
        #expect(copied.status == 0)
        for place in ["'\(folder.path)'", "'\(folder.path)'/*.fits", "'\(folder.path)/*.fits'"] {
            let ended = try await Skynode.shell(
                "\"$0\" scan \(place) -o '\(folder.file("out"))' --slots 1 --no-multicast --no-picture")
            #expect(ended.status == 2)
            let named = ended.errors.filter { $0.hasPrefix("skynode: ") }
            #expect(named.count == 1, "\(named)")
            #expect(named.first?.contains("\(folder.path)/caf\\xe9.fits: its name is not UTF-8") == true, "\(named)")
            #expect(try !folder.contents("out/sky0.csv").isEmpty && !folder.contents("out/sky1.csv").isEmpty)
        }
    }

    @Test func `each of several images has a line, and the last line sums them up`() async throws {
        let folder = try ScratchFolder()
        let files = try await images(2, size: 128, in: folder)
        func scan(_ options: String...) async throws -> Ended {
            try await Skynode.run(
                ["scan"] + files + [
                    "/nonexistent/sky.fits", "-o", folder.file("out"), "--slots", "1", "--no-multicast", "--no-picture",
                    "--format-catalogue", "csv",
                ] + options)
        }
        let published = try await scan()
        #expect(published.status == 2 && published.output.count == 3, "\(published.output)")
        let line = try #require(published.output.last)
        #expect(line.hasPrefix("2 images: ") && line.contains("1 could not be read"), "\(line)")
        #expect(line.hasSuffix("results in \(folder.file("out")); all sources in \(folder.file("out"))/merged.csv"))
        for (file, line) in zip(files, published.output.dropLast().sorted()) {
            #expect(line.hasPrefix(file + ": ") && line.contains(/: \d+ sources? in [0-9.]+ s$/), "\(line)")
        }
        #expect(published.errors.filter { $0.hasPrefix("skynode: ") }.count == 1)
        let verbose = try await scan("-v")
        #expect(verbose.output.count { $0.hasPrefix("wrote ") } == 3, "\(verbose.output)")
        #expect(verbose.errors.contains { $0.hasPrefix("Completed: ") })
        let quiet = try await scan("-q")
        #expect(
            quiet.status == 2 && quiet.output.isEmpty
                && quiet.errors == published.errors.filter { $0.hasPrefix("skynode: ") })
        #expect(try await scan("-q", "-v").errors == ["skynode: --quiet and --verbose contradict each other"])
    }

    @Test func `a command with many files says that it is looking at them`() async throws {
        let folder = try ScratchFolder()
        let file = try await images(1, size: 64, in: folder)[0]
        for number in 1..<1000 { link(file, folder.file("copy\(number).fits")) }
        let process = try RunningProcess(
            Skynode.path,
            ["scan", folder.path, "-o", folder.file("out"), "--slots", "2", "--no-multicast", "--no-picture"])
        for await line in process.lines where line.contains("sources in") { break }
        process.send(SIGINT)
        let ended = await process.end()
        #expect(ended.status == 130)
        #expect(ended.errors.first == "skynode: looking at 1000 files")
    }

    @Test func `a catalogue goes to standard output on request, and nothing else goes there`() async throws {
        let folder = try ScratchFolder()
        let file = try await images(1, size: 128, in: folder)[0]
        func scan(_ output: String, _ options: String...) async throws -> Ended {
            try await Skynode.run(["scan", file, "-o", output, "--slots", "1", "--no-multicast"] + options)
        }
        #expect(try await scan(folder.file("one.csv")).status == 0)
        let csv = String(decoding: try folder.contents("one.csv"), as: UTF8.self).split(separator: "\n").map(
            String.init)
        let piped = try await scan("-")
        #expect(piped.status == 0 && piped.output == csv)
        #expect(piped.errors.contains { $0.contains("sources in") })
        #expect(try await scan("-", "--format-catalogue", "ndjson").output.first?.hasPrefix("{\"NUMBER\":1") == true)
        #expect(try await scan(folder.file("sex.cat")).status == 0)
        #expect(try folder.contents("sex.cat").starts(with: Data("SIMPLE  =".utf8)), "as LDAC")
        let unknown = try await scan(folder.file("list.txt"))
        #expect(unknown.status == 2 && unknown.errors.count == 1)
        #expect(unknown.errors.first?.contains(".ecsv") == true && unknown.errors.first?.contains("list.txt/") == true)
        #expect(access(folder.file("list.txt"), F_OK) == -1)
        #expect(try await scan(folder.file("night.1/")).status == 0)
        #expect(try !folder.contents("night.1/sky0.csv").isEmpty)
        #expect(access("-", F_OK) == -1, "no folder of that name")
    }
}
