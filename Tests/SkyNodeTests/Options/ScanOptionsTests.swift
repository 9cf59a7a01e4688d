import ArgumentParser
import Base
import Fixtures
import Sky
import Testing

@testable import SkyNode

/// The options of a scan and of a synthetic image: defaults, values that cannot be, and options that need one another.
struct ScanOptionsTests {
    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    private func configuration(_ line: String, readsFiles: Bool = false) throws -> ScanConfiguration {
        let options = try DetectionOptions.parse(words(line))
        return try readsFiles ? options.configuration() : options.settings.configuration(reading: nil)
    }

    private func complaint(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch let failure as CommandFailure {
            return failure.message
        } catch let error as SkyError {
            return error.message
        } catch {
            return "\(error)"
        }
    }

    // MARK: - Detection

    @Test func `the preset gives the defaults, and options override it`() throws {
        #expect(try configuration("") == ScanConfiguration())
        #expect(try configuration("--preset sensitive") == DetectionPreset.sensitive.configuration)
        let own = try configuration("--preset sensitive --threshold 4 --filter none --min-area 3")
        #expect(own.threshold == 4 && own.filter == .none && own.minimumArea == 3 && own.thresholdUnit == .filtered)
        let all = try configuration(
            "--threshold-unit filtered --fwhm 3 --deblend-levels 1 --deblend-contrast 0.1 --clean off --aperture 4,8 "
                + "--gain 2 --saturation 50000 --zero-point 25 --seeing 3.5 --mesh 32 --mesh-filter 5 --sector full "
                + "--margin 10 --hdu 2 --background local --background-thickness 30")
        #expect(all.filter == .gaussian(fwhm: 3) && all.cleanParameter == nil && all.apertureDiameters == [4, 8])
        #expect(all.gain == 2 && all.saturation == 50_000 && all.zeroPoint == 25 && all.seeing == 3.5)
        #expect(all.meshSize == 32 && all.meshFilterSize == 5 && all.sectorSize == nil && all.margin == 10)
        #expect(all.hdu == 2 && all.localBackground == 30 && all.deblendLevels == 1)
        #expect(try configuration("--background local").localBackground == 24)
        #expect(try configuration("--background global").localBackground == nil)
    }

    @Test func `each key is an option, with its help and its words`() throws {
        for key in ScanKeys.all {
            let value = key.words.last ?? (key.name == "columns" ? "NUMBER" : "1")
            #expect(try DetectionOptions.parse(["--\(key.name)=\(value)"]).settings.texts == [key.name: value])
        }
        let help = ScanCommand.helpMessage(columns: 10_000)
        for key in ScanKeys.all { #expect(help.contains("--\(key.name) <\(key.placeholder)>"), "\(key.name)") }
        for key in ScanKeys.all { #expect(help.contains(key.help), "\(key.name)") }
    }

    @Test(arguments: [
        ("--filter none --fwhm 3", "give --filter or --fwhm, not both"),
        ("--background-thickness 3", "--background-thickness goes with --background local"),
        (
            "--background global --background-thickness 3",
            "--background-thickness goes with --background local"
        ),
        ("--filter own.conv", "--filter: files cannot be named here"),
        ("--columns @own.param", "--columns: files cannot be named here"),
    ])
    func `contradicting options of detection are refused`(line: String, words: String) {
        #expect(complaint { _ = try configuration(line) } == words)
    }

    @Test(arguments: [
        "--threshold 0", "--min-area 0", "--mesh 4", "--mesh-filter 2", "--aperture 0", "--sector 100", "--margin 5000",
        "--hdu 10000", "--fwhm 99", "--deblend-levels 65", "--columns NO_SUCH_COLUMN",
    ])
    func `an impossible value is refused in one line`(line: String) throws {
        let words = try #require(complaint { _ = try configuration(line) })
        #expect(!words.isEmpty && !words.contains("\n"))
    }

    @Test func `columns are named on the command line or in a file`() throws {
        let folder = ScratchFolder()
        folder.put("NUMBER\nX_IMAGE  # a place\n", in: "own.param")
        #expect(
            try configuration("--columns @\(folder.file("own.param"))", readsFiles: true).columns == [
                "NUMBER", "X_IMAGE",
            ])
        #expect(try configuration("--columns NUMBER,X_IMAGE").columns == ["NUMBER", "X_IMAGE"])
        folder.put("NO_SUCH_COLUMN\n", in: "bad.param")
        let path = folder.file("bad.param")
        let words = complaint { _ = try configuration("--columns @\(path)", readsFiles: true) }
        #expect(words?.hasPrefix("\(path): ") == true)
    }

    // MARK: - Which pixels

    @Test func `an image is scanned as a whole, as a plane or by its colours`() throws {
        func layers(_ line: String) throws -> [ImageLayer] { try LayerOptions.parse(words(line)).layers() }
        #expect(try layers("") == [ImageLayer()] && layers("--plane 3") == [ImageLayer(plane: 3)])
        let colours = try layers("--bayer RGGB --plane 2")
        #expect(colours.compactMap { $0.bayer?.colour } == BayerPattern.Colour.allCases)
        #expect(colours.map(\.plane) == [2, 2, 2, 2])
        #expect(complaint { _ = try layers("--plane 0") } != nil)
    }

    private let image = String(decoding: FITSBytes.header(["BITPIX = 8", "NAXIS = 0"]), as: UTF8.self)

    @Test func `weights and masks are found by their image's name or in its file`() throws {
        let folder = ScratchFolder()
        for name in ["a.fits", "a.weight.fits", "mask.fits"] { folder.put(image, in: name) }
        let path = folder.file("a.fits")
        func companions(_ line: String) throws -> Companions? {
            try CompanionOptions.parse(words(line)).companions(of: path)
        }
        #expect(try companions("") == nil && companions("--mask none") == nil)
        let both = try #require(try companions("--weight %.weight.fits --mask \(folder.file("mask.fits"))"))
        #expect(both.kind == .weight && both.noise?.path == ImagePath.resolved(folder.file("a.weight.fits")))
        #expect(both.mask?.path == ImagePath.resolved(folder.file("mask.fits")) && both.takesOwn == nil)
        let own = try #require(try companions("--rms hdu:2 --mask auto"))
        #expect(own.kind == .rms && own.noise?.hdu == 2 && own.noise?.path == ImagePath.resolved(path))
        #expect(own.takesOwn == true && own.mask == nil)
        #expect(
            complaint { _ = try companions("--rms hdu:1 --variance hdu:2") }
                == "give one of --weight, --rms and --variance")
        for text in ["hdu:x", "hdu:-1", "hdu:10000", "hdu:"] {
            #expect(
                complaint { _ = try companions("--mask=\(text)") } == "\(text): after hdu: comes a number from 0")
        }
        #expect(complaint { _ = try companions("--mask %.mask.fits") }?.contains("a.mask.fits") == true)
    }

    @Test func `the weights in a folder are found for their image`() throws {
        let folder = ScratchFolder()
        for name in ["a.fits", "a.weight.fits"] { folder.put(image, in: name) }
        let options = try CompanionOptions.parse(words("--weight %.weight.fits --mask hdu:1"))
        #expect(
            options.files(of: folder.file("a.fits"))
                == [ImagePath.resolved(folder.file("a.weight.fits"))].compactMap(\.self))
        #expect(options.files(of: folder.file("b.fits")).isEmpty, "it is not there")
        #expect(
            ImageName.companion("%", of: "night/a.fits.gz") == "night/a"
                && ImageName.companion("%.w", of: "a.fits") == "a.w")
    }

    @Test func `--detect names another image to find sources on`() throws {
        let folder = ScratchFolder()
        folder.put(image, in: "deep.fits")
        func detection(_ line: String) throws -> DetectionImage? {
            try DualImageOptions.parse(words(line)).detection()
        }
        #expect(try detection("") == nil)
        let deep = try #require(
            try detection("--detect \(folder.file("deep.fits")) --detect-hdu 2 --detect-plane 3"))
        #expect(deep.image.path == ImagePath.resolved(folder.file("deep.fits")))
        #expect(deep.image.hdu == 2 && deep.image.layer?.plane == 3)
        for line in ["--detect-hdu 1", "--detect-plane 1"] {
            #expect(
                complaint { _ = try detection(line) } == "--detect-hdu and --detect-plane go with --detect")
        }
        let path = folder.file("none.fits")
        #expect(complaint { _ = try detection("--detect \(path)") }?.contains(path) == true)
        let deepPath = folder.file("deep.fits")
        #expect(complaint { _ = try detection("--detect \(deepPath) --detect-plane 0") } != nil)
    }

    // MARK: - Where results go

    private func place(_ line: String, isFolder: Bool = false) throws -> OutputPlace {
        try OutputOptions.parse(words(line)).place { _ in isFolder }
    }

    @Test(
        arguments: [
            ("", ".", [.csv, .fits, .regions], false), ("-o out", "out", [.csv, .fits, .regions], false),
            ("-o out//", "out", [.csv, .fits, .regions], false), ("-o /", "/", [.csv, .fits, .regions], false),
            ("-o night.1/", "night.1", [.csv, .fits, .regions], false),
            ("-o ..", "..", [.csv, .fits, .regions], false),
            ("-o .hidden", ".hidden", [.csv, .fits, .regions], false),
            ("-o out --format-catalogue ecsv,ldac", "out", [.ecsv, .ldac], false),
            ("-o out/all.fits", "out", [.fits], true), ("-o all.CAT", ".", [.ldac], true),
            ("-o all.fits --format-catalogue ldac", ".", [.ldac], true), ("-o -", ".", [.csv], true),
            ("-o - --format-catalogue ndjson", ".", [.ndjson], true),
        ] as [(String, String, [CatalogueFormat], Bool)])
    func `results go to a folder, to one catalogue or to standard output`(
        line: String, folder: String, formats: [CatalogueFormat], isFile: Bool
    ) throws {
        let place = try place(line)
        #expect(place.folder == folder && place.formats == formats && place.isFile == isFile)
        #expect(place.isStandardOutput == line.hasPrefix("-o -"))
    }

    @Test func `an output with an unknown ending is refused unless it is an existing folder`() throws {
        let words = complaint { _ = try place("-o list.txt") }
        #expect(words?.hasPrefix("--output list.txt: no catalogue ends with .txt; they end with ") == true)
        #expect(words?.hasSuffix("For a folder of that name, write list.txt/") == true)
        #expect(try place("-o list.txt", isFolder: true).folder == "list.txt")
        for line in ["-o all.csv", "-o -"] {
            #expect(
                complaint { _ = try place(line + " --format-catalogue csv,fits") }?
                    .hasSuffix("is one catalogue: it takes one format") == true)
        }
    }

    // MARK: - Artificial stars

    @Test func `the options of artificial stars need --inject with their number`() throws {
        func demand(_ line: String) throws -> InjectionDemand? {
            try InjectionOptions.parse(words(line)).demand(zeroPoint: 25)
        }
        #expect(try demand("") == nil)
        let usual = try #require(try demand("--inject 100"))
        #expect(usual == InjectionDemand(count: 100))
        let own = try #require(
            try demand(
                "--inject 5 --inject-magnitudes 18:24 --inject-fwhm 3 --inject-profile gaussian --inject-seed 9"))
        #expect(own.magnitudes == 18...24 && own.fwhm == 3 && own.profile == .gaussian && own.seed == 9)
        for (option, value) in [("magnitudes", "18:24"), ("fwhm", "3"), ("profile", "moffat"), ("seed", "1")] {
            #expect(
                complaint { _ = try demand("--inject-\(option) \(value)") }
                    == "--inject-\(option) goes with --inject, the number of stars")
        }
        #expect(complaint { _ = try demand("--inject 0") }?.hasPrefix("--inject 0: the number of stars") == true)
        #expect(complaint { _ = try demand("--inject 1 --inject-fwhm 99") } != nil)
    }

    // MARK: - The whole

    @Test func `the options of a scan have defaults`() throws {
        let options = try ScanFixture.options("a.fits b.fits")
        #expect(options.images == ["a.fits", "b.fits"] && !options.job.detach && !options.job.noCache)
        #expect(!options.files.noMerge && !options.files.noPicture && !options.files.keepPartial)
        #expect(options.comparison.reference == nil && options.job.failSector == nil)
        let all = try ScanOptions.parse(words("a.fits -o out --threshold 3 --detach --reference r --priority 3 b.fits"))
        #expect(all.images == ["a.fits", "b.fits"] && all.output.output == "out" && all.job.detach)
        #expect(
            all.detection.settings.texts == ["threshold": "3"] && all.comparison.reference == "r"
                && all.flags.priority == 3)
    }

    @Test func `contradicting options are refused before any file is read`() throws {
        let none = complaint { _ = try PreparedScan(try ScanFixture.options("")) }
        #expect(none == "name at least one FITS image; see skynode scan --help")
        let both = complaint {
            _ = try PreparedScan(try ScanFixture.options("/nonexistent/a.fits --alone --node 127.0.0.1:7420"))
        }
        #expect(both?.hasPrefix("--alone and --node contradict each other") == true)
    }

    @Test func `a plan has the readable images, and makes the output folder`() throws {
        let folder = ScratchFolder()
        for name in ["a.fits", "b.fits", "a.weight.fits"] { folder.put(image, in: name) }
        folder.put("<!DOCTYPE html>", in: "page.fits")
        let prepared = try PreparedScan(
            try ScanFixture.options("\(folder.path) -o \(folder.file("out")) --weight %.weight.fits"))
        #expect(
            prepared.plan.items.map(\.name) == [folder.file("a.fits")],
            "not the weights of another, and not what has none")
        #expect(prepared.plan.refusals.count == 2, "\(prepared.plan.refusals.map(\.message))")
        #expect(folder.names.contains("out"))
        prepared.output.removeFolderIfUnused()
        #expect(!folder.names.contains("out"))
    }

    @Test func `the options of a synthetic image are applied to its recipe`() throws {
        var synthesis = SkySynthesis()
        try FrameOptions.parse([]).apply(to: &synthesis)
        try EpochOptions.parse([]).apply(to: &synthesis)
        try BlemishOptions.parse([]).apply(to: &synthesis)
        #expect(synthesis.width == SkySynthesis().width && synthesis.epochs == 1 && synthesis.cosmicRays == 0)
        #expect(synthesis.interval == SkySynthesis().interval && synthesis.bitpix == SkySynthesis().bitpix)
        try FrameOptions.parse(
            words("--width 64 --height 32 --stars 5 --galaxies 2 --fwhm 2 --profile gaussian --seed 7")
        ).apply(to: &synthesis)
        #expect(synthesis.width == 64 && synthesis.height == 32 && synthesis.stars == 5 && synthesis.galaxies == 2)
        #expect(synthesis.fwhm == 2 && synthesis.profile == .gaussian && synthesis.seed == 7)
        try EpochOptions.parse(
            words("--epochs 3 --dither 2 --interval 10m --transients 1 --movers 2 --variables 3")
        ).apply(to: &synthesis)
        #expect(synthesis.epochs == 3 && synthesis.dither == 2 && synthesis.interval == 600)
        #expect(synthesis.transients == 1 && synthesis.movers == 2 && synthesis.variables == 3)
        try BlemishOptions.parse(
            words("--cosmic-rays 4 --trails 1 --trail-brightness 9 --nan-block --bitpix -32")
        ).apply(to: &synthesis)
        #expect(synthesis.cosmicRays == 4 && synthesis.trails == 1 && synthesis.trailBrightness == 9)
        #expect(synthesis.nanBlock && synthesis.bitpix == -32)
    }
}
