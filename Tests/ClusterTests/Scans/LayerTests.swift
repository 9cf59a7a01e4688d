import Foundation
import Testing

/// Planes, colours, masks and damaged files as somebody at a terminal meets them.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct LayerTests {
    /// Pixels of an image that `skynode synthesize` made, 32-bit floats as FITS has them.
    private func pixels(_ seed: Int, in folder: ScratchFolder) async throws -> Data {
        let name = "made\(seed).fits"
        let made = try await Skynode.run(
            "synthesize", folder.file(name), "--width", "160", "--height", "120", "--stars", "30", "--seed", "\(seed)",
            "--galaxies", "0")
        #expect(made.status == 0, "\(made.errors)")
        let bytes = try folder.contents(name)
        var end = 0
        while end < bytes.count, bytes[end..<end + 8] != Data("END     ".utf8) { end += 80 }
        let start = (end / 2880 + 1) * 2880
        #expect(String(decoding: bytes[..<start], as: UTF8.self).contains("BITPIX  =                  -32"))
        return bytes[start..<start + 160 * 120 * 4]
    }

    private func hdu(_ axes: [Int], _ data: Data, _ cards: [String] = [], isExtension: Bool = false) -> Data {
        let sizes = axes.enumerated().map { "NAXIS\($0.offset + 1)  = \($0.element)" }
        let first = isExtension ? "XTENSION= 'IMAGE   '" : "SIMPLE  =                    T"
        let counts = isExtension ? ["PCOUNT  = 0", "GCOUNT  = 1"] : []
        let all =
            [first, "BITPIX  = \(axes.isEmpty ? 8 : -32)", "NAXIS   = \(axes.count)"] + sizes + counts + cards + ["END"]
        var bytes = Data(all.map { $0.padding(toLength: 80, withPad: " ", startingAt: 0) }.joined().utf8)
        bytes += Data(repeating: 0x20, count: (2880 - bytes.count % 2880) % 2880)
        bytes += data
        return bytes + Data(repeating: 0, count: (2880 - bytes.count % 2880) % 2880)
    }

    private func write(_ bytes: Data, _ name: String, in folder: ScratchFolder) throws -> String {
        try bytes.write(to: URL(fileURLWithPath: folder.file(name)))
        return folder.file(name)
    }

    private func scan(_ arguments: [String], in folder: ScratchFolder, to name: String) async throws -> Ended {
        try await Skynode.run(
            ["scan"] + arguments + [
                "-o", folder.file(name) + "/", "--slots", "2", "--no-multicast", "--no-picture", "--no-cache",
                "--format-catalogue", "csv,ecsv",
            ])
    }

    private func files(_ name: String, in folder: ScratchFolder) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file(name))) ?? []
        return names.filter { $0.hasSuffix(".csv") && !$0.hasSuffix(".ecsv") }.sorted()
    }

    @Test func `each plane of a colour image has a catalogue; another cube has one, of its first or named plane`()
        async throws
    {
        let folder = try ScratchFolder()
        var planes: [Data] = []
        for seed in 1...3 { planes.append(try await pixels(seed, in: folder)) }
        let colour = try write(hdu([160, 120, 3], planes.reduce(Data(), +)), "photo.fits", in: folder)
        let all = try await scan([colour], in: folder, to: "all")
        #expect(all.status == 0 && all.errors.contains { $0.contains("a colour image: each of its three planes") })
        #expect(files("all", in: folder) == ["merged.csv", "photo-plane1.csv", "photo-plane2.csv", "photo-plane3.csv"])
        for (index, plane) in planes.enumerated() {
            let alone = try write(hdu([160, 120], plane), "alone.fits", in: folder)
            #expect(try await scan([alone], in: folder, to: "alone").status == 0)
            let catalogue = try folder.contents("alone/alone.csv")
            #expect(try folder.contents("all/photo-plane\(index + 1).csv") == catalogue && catalogue.count > 500)
            let table = String(decoding: try folder.contents("all/photo-plane\(index + 1).ecsv"), as: UTF8.self)
            #expect(
                table.contains("PLANE: \(index + 1)") || table.contains("PLANE, value: \(index + 1)"),
                "\(table.prefix(900))")
            #expect(try await scan([colour, "--plane", "\(index + 1)"], in: folder, to: "one").status == 0)
            #expect(files("one", in: folder) == ["photo.csv"])
            #expect(try folder.contents("one/photo.csv") == catalogue)
        }
        let cube = try write(
            hdu([160, 120, 3], planes.reduce(Data(), +), ["CTYPE3  = 'FREQ    '"]), "cube.fits", in: folder)
        let first = try await scan([cube], in: folder, to: "first")
        #expect(first.errors.contains { $0.contains("a cube of 3 planes: the first is scanned") })
        #expect(try folder.contents("first/cube.csv") == folder.contents("all/photo-plane1.csv"))
        for (plane, words) in [("4", "there is no plane 4"), ("0", "1 to 1000000")] {
            let refused = try await scan([cube, "--plane", plane], in: folder, to: "none")
            #expect(refused.status == 2 && refused.errors.contains { $0.contains(words) }, "\(refused.errors)")
        }
        let unnamed = try await scan([cube, "--reference", colour], in: folder, to: "none")
        #expect(unnamed.status == 2 && unnamed.errors.contains { $0.contains("--plane names the one") })
        #expect(files("none", in: folder).isEmpty)
        // A file cut off in its last plane is found before its first is written.
        let whole = try Data(contentsOf: URL(fileURLWithPath: colour))
        let cut = try write(whole.prefix(whole.count - 20_000), "cut.fits", in: folder)
        let ended = try await scan([cut], in: folder, to: "none")
        #expect(ended.status == 2 && ended.errors.contains { $0.contains("promises 160 x 120 x 3 pixels") })
        #expect(files("none", in: folder).isEmpty)
    }

    @Test func `--bayer gives a catalogue for each colour, and a plain scan of such a frame hints at it`()
        async throws
    {
        let folder = try ScratchFolder()
        let frame = try write(
            hdu([160, 120], try await pixels(1, in: folder), ["BAYERPAT= 'RGGB    '"]), "frame.fits", in: folder)
        let plain = try await scan([frame], in: folder, to: "plain")
        #expect(plain.status == 0 && plain.errors.contains { $0.contains("--bayer RGGB scans each colour") })
        let colours = try await scan([frame, "--bayer", "RGGB"], in: folder, to: "out")
        #expect(colours.status == 0 && !colours.errors.contains { $0.contains("scans each colour") })
        #expect(
            files("out", in: folder) == ["frame-B.csv", "frame-G1.csv", "frame-G2.csv", "frame-R.csv", "merged.csv"])
        for arguments in [
            ["--bayer", "RGBG"], ["--bayer", "RGGB", "--reference", frame], ["--bayer", "RGGB", "--inject", "9"],
        ] {
            #expect(try await scan([frame] + arguments, in: folder, to: "none").status == 2)
        }
        #expect(files("none", in: folder).isEmpty)
    }

    @Test func `the error for a truncated file names the images with a catalogue and those without`() async throws {
        let folder = try ScratchFolder()
        var bytes = hdu([], Data())
        for seed in 1...3 { bytes += hdu([160, 120], try await pixels(seed, in: folder), isExtension: true) }
        let cut = try write(bytes.prefix(bytes.count - 20_000), "cut.fits", in: folder)
        let ended = try await scan([cut], in: folder, to: "out")
        #expect(ended.status == 2)
        #expect(
            ended.errors.contains {
                $0.contains("there are catalogues of \(cut)[1], \(cut)[2], none of \(cut)[3]")
            }, "\(ended.errors)")
        #expect(files("out", in: folder) == ["cut-hdu1.csv", "cut-hdu2.csv", "merged.csv"])
        // A file that is cut off in a header is reported too.
        let length = hdu([160, 120], Data(repeating: 0, count: 160 * 120 * 4), isExtension: true).count
        let early = try write(bytes.prefix(2880 + 2 * length + 1500), "early.fits", in: folder)
        let other = try await scan([early], in: folder, to: "early")
        #expect(other.status == 2)
        #expect(other.errors.contains { $0.contains("HDU 3 and what follows it") && $0.contains("cannot be scanned") })
        #expect(files("early", in: folder) == ["early-hdu1.csv", "early-hdu2.csv", "merged.csv"])
    }

    @Test func `a mask among images is skipped with a line, and a mask alone is an error`() async throws {
        let folder = try ScratchFolder()
        let data = try await pixels(1, in: folder)
        let image = try write(hdu([160, 120], data), "image.fits", in: folder)
        let mask = try write(hdu([160, 120], data, ["IMAGETYP= 'Bad pixel mask'"]), "mask.fits", in: folder)
        let both = try await scan([image, mask], in: folder, to: "both")
        #expect(
            both.status == 0 && both.errors.contains { $0.contains("HDU 0 is a mask; --hdu 0 scans it all the same") })
        #expect(files("both", in: folder) == ["image.csv", "merged.csv"])
        #expect(try await scan([mask], in: folder, to: "none").status == 2)
        #expect(try await scan([mask, "--hdu", "0"], in: folder, to: "named").status == 0)
        #expect(files("named", in: folder) == ["mask.csv"])
    }

    @Test func `an injection that cannot work is refused before anything is written`() async throws {
        let folder = try ScratchFolder()
        let image = try write(hdu([160, 120], try await pixels(1, in: folder)), "image.fits", in: folder)
        for stars in [["--inject", "19000"], ["--inject", "700", "--inject-fwhm", "12"]] {
            let ended = try await scan([image] + stars, in: folder, to: "none")
            #expect(
                ended.status == 2 && ended.errors.contains { $0.contains("the image has room for") }, "\(ended.errors)")
            #expect(!ended.output.contains { $0.contains("sources in") })
        }
        let empty = try write(
            hdu([160, 120], Data(repeating: 0, count: 160 * 120 * 4)), "empty.fits", in: folder)
        let ended = try await scan([empty, "--inject", "5"], in: folder, to: "none")
        #expect(
            ended.status == 2 && ended.errors.contains { $0.contains("nothing of it was written") }, "\(ended.errors)")
        #expect(files("none", in: folder).isEmpty)
    }
}
