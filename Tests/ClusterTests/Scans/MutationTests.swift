import Foundation
import Glibc
import Testing

/// Files that somebody damaged: bytes that no header and no compressed tile should have, and every one of them is named, or
/// scanned, while its neighbours are scanned as if it were not there.
///
/// A few hundred here; `make mutations` makes ten thousand of each kind.
@Suite(.serialized, .timeLimit(.minutes(300))) struct MutationTests {
    private static let setting = ProcessInfo.processInfo.environment
    private static let count = setting["MUTATIONS"].flatMap(Int.init) ?? 160
    private static let firstSeed = setting["MUTATIONS_FIRST_SEED"].flatMap(UInt64.init) ?? 1
    private static let malformed = Skynode.sharedSky + "/malformed"
    /// Files of one command.
    private static let batch = 400

    /// xorshift64* (Vigna 2016), so that a seed says it all.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 2_685_821_657_736_338_717
        }
    }

    /// Frames of every compression where the shared ones are there, and of our own in any case.
    private func seeds(in folder: ScratchFolder) async throws -> [Data] {
        var seeds: [Data] = []
        for (index, bitpix) in ["-32", "16"].enumerated() {
            let file = folder.file("seed\(index).fits")
            let made = try await Skynode.run(
                ["synthesize", file, "--width", "80", "--height", "64", "--seed", "\(index)"]
                    + (bitpix == "-32" ? [] : ["--bitpix", bitpix]))
            #expect(made.status == 0)
            seeds.append(try Data(contentsOf: URL(fileURLWithPath: file)))
        }
        if access(Self.malformed, R_OK) == 0 {
            for name in try FileManager.default.contentsOfDirectory(atPath: Self.malformed).sorted()
            where name.hasPrefix("seed_") && !name.hasSuffix(".gz") {
                seeds.append(try Data(contentsOf: URL(fileURLWithPath: Self.malformed + "/" + name)))
            }
        } else {
            print("skipped: compressed seeds, \(Self.malformed) is not here")
        }
        return seeds
    }

    /// One to eight changes: bytes, bits, digits of a header, stretches that are doubled, lost or zero.
    private func mutated(_ seed: Data, _ dice: inout Dice, header: Range<Int>? = nil) -> Data {
        var data = [UInt8](seed)
        for _ in 0..<Int.random(in: 1...8, using: &dice) {
            let range = header ?? (Bool.random(using: &dice) ? 0..<min(data.count, 5760) : 0..<data.count)
            guard let place = range.randomElement(using: &dice), place < data.count else { continue }
            switch Int.random(in: 0..<(header == nil ? 7 : 4), using: &dice) {
            case 0: data[place] = UInt8.random(in: 0...255, using: &dice)
            case 1: data[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 2: data[place] = UInt8(ascii: "0") + UInt8.random(in: 0..<10, using: &dice)
            case 3: data[place] = [0x20, 0x2D, 0x2E, 0x45, 0x27, 0x2F].randomElement(using: &dice) ?? 0x20
            case 4: data.removeSubrange(place..<min(data.count, place + Int.random(in: 1...400, using: &dice)))
            case 5: data.insert(contentsOf: data[place..<min(data.count, place + 80)], at: place)
            default:
                for index in place..<min(data.count, place + Int.random(in: 1...200, using: &dice)) { data[index] = 0 }
            }
        }
        return Data(data)
    }

    /// Scans folders of damaged files with a sound one among them.
    private func scan(_ total: Int, _ damaged: (Int, inout Dice) throws -> Data) async throws {
        let folder = try ScratchFolder()
        let sound = folder.file("sound.fits")
        #expect(try await Skynode.run("synthesize", sound, "--width", "96", "--height", "96").status == 0)
        let soundData = try Data(contentsOf: URL(fileURLWithPath: sound))
        var (scanned, named) = (0, 0)
        // `MUTATIONS` must be the same, too, for the same files.
        print("\(total) damaged files: MUTATIONS_FIRST_SEED=\(Self.firstSeed)")
        var dice = Dice(state: Self.firstSeed &* 0x9E37_79B9_7F4A_7C15 | 1)
        try await RunningCluster.with(2, slots: 1) { cluster in
            let expected = try await Skynode.run(
                "scan", sound, "-o", folder.file("sound.csv"), "--node", cluster.addresses[0], "--no-cache")
            #expect(expected.status == 0)
            let catalogue = try folder.contents("sound.csv")
            for start in stride(from: 0, to: total, by: Self.batch) {
                let input = folder.file("batch\(start)")
                mkdir(input, 0o755)
                var names: [String] = []
                for index in start..<min(total, start + Self.batch) {
                    let name = "m\(index).fits"
                    try damaged(index, &dice).write(to: URL(fileURLWithPath: input + "/" + name))
                    names.append(name)
                }
                // In the middle of the names.
                try soundData.write(to: URL(fileURLWithPath: input + "/m\(start + 5)sound.fits"))
                let output = folder.file("out\(start)")
                let ended = try await Skynode.run(
                    "scan", input, "-o", output, "--node", cluster.addresses[0], "--no-picture", "--no-cache",
                    "--no-merge", "--format-catalogue", "csv", "--time-limit", "60s")
                #expect((0...2).contains(ended.status), "exit code \(ended.status): \(ended.errors.last ?? "")")
                let written = Set(try FileManager.default.contentsOfDirectory(atPath: output))
                for name in names {
                    // Each image of a file with several has its own catalogue.
                    let stem = name.dropLast(5)
                    let isScanned = written.contains("\(stem).csv") || written.contains { $0.hasPrefix("\(stem)-hdu") }
                    let isNamed = ended.errors.contains { $0.contains("/\(name)") }
                    #expect(isScanned || isNamed, "\(name) of seed \(Self.firstSeed) was neither scanned nor named")
                    if isScanned { scanned += 1 } else { named += 1 }
                    if !isScanned, !isNamed {
                        try? FileManager.default.copyItem(atPath: input + "/" + name, toPath: "/tmp/skynode-" + name)
                    }
                }
                let neighbour = try folder.contents("out\(start)/m\(start + 5)sound.csv")
                #expect(Self.rows(neighbour) == Self.rows(catalogue), "the sound file's catalogue is what it always is")
                try FileManager.default.removeItem(atPath: input)
                try FileManager.default.removeItem(atPath: output)
                let nodes = try await Skynode.run("nodes", "--node", cluster.addresses[1], "--format", "json")
                #expect(nodes.output.count == 2, "both nodes live")
            }
        }
        print("\(total) damaged files from seed \(Self.firstSeed): \(scanned) scanned, \(named) named")
        #expect(scanned > 0)
    }

    /// Without the header's lines, which name the file.
    private static func rows(_ csv: Data) -> [Substring] {
        String(decoding: csv, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test func `damaged files are named or scanned, the nodes survive, and no other file is affected`() async throws {
        let folder = try ScratchFolder()
        let seeds = try await seeds(in: folder)
        try await scan(Self.count) { index, dice in mutated(seeds[index % seeds.count], &dice) }
    }

    @Test func `files with damaged coordinates, which hang or crash wcslib, are named or scanned`() async throws {
        let folder = try ScratchFolder()
        let seed = try await seeds(in: folder)[0]
        // SIP, TPV, other projections and axes: what parses most.
        let cards = [
            "CTYPE1  = 'RA---TAN-SIP'", "CTYPE2  = 'DEC--TAN-SIP'", "A_ORDER =                    3",
            "A_2_0   =               1.0E-5", "A_0_2   =              -2.0E-6", "B_ORDER =                    3",
            "B_1_1   =               3.0E-6", "PV1_1   =                  1.0", "PV2_3   =               0.0001",
            "RADESYS = 'FK4     '", "EQUINOX =               1950.0", "LONPOLE =                180.0",
            "DATE-OBS= '2026-01-02T03:04:05'", "CD1_2A  =               1.0E-5", "WCSAXES =                    2",
        ]
        let end = try #require(seed.range(of: Data("END     ".utf8)))
        let added = Data(cards.map { $0.padding(toLength: 80, withPad: " ", startingAt: 0) }.joined().utf8)
        var header = seed[..<end.lowerBound] + added + Data("END".utf8)
        header += Data(repeating: 0x20, count: (2880 - header.count % 2880) % 2880)
        let text = String(decoding: header, as: UTF8.self)
        let first = try #require(text.range(of: "CTYPE1"))
        let begin = text.distance(from: text.startIndex, to: first.lowerBound)
        let rest = seed[((end.lowerBound / 2880) + 1) * 2880..<seed.count]
        let whole = header + rest
        try await scan(Self.count / 2) { _, dice in mutated(whole, &dice, header: begin..<end.lowerBound + added.count)
        }
    }

    @Test(.enabled(if: access(malformed, R_OK) == 0, "the malformed files are not beside the package"))
    func `every file known to crash cfitsio is named or scanned`() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.malformed).sorted()
        #expect(names.count > 10)
        let folder = try ScratchFolder()
        try await RunningCluster.with(2, slots: 1) { cluster in
            let ended = try await Skynode.run(
                "scan", Self.malformed, "-o", folder.file("out"), "--node", cluster.addresses[0], "--no-picture",
                "--no-cache", "--no-merge", "--format-catalogue", "csv")
            #expect((0...2).contains(ended.status))
            let written = try FileManager.default.contentsOfDirectory(atPath: folder.file("out"))
            for name in names {
                let stem = name.split(separator: ".fits").first.map(String.init) ?? name
                #expect(
                    written.contains { $0.hasPrefix(stem) } || ended.errors.contains { $0.contains(name) }, "\(name)")
            }
            let crashes = ended.errors.filter { $0.hasPrefix("skynode: ") && $0.contains("signal") }
            #expect(crashes.count > 3, "cfitsio dies of some, in worker processes: \(ended.errors)")
            #expect(crashes.allSatisfy { $0.contains("failed 2 times") }, "\(crashes)")
            let nodes = try await Skynode.run("nodes", "--node", cluster.addresses[1], "--format", "json")
            #expect(nodes.output.count == 2, "both nodes live")
        }
    }
}
