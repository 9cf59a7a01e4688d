import Foundation
import Glibc
import Testing

/// Every one of these ends with exit code 2 and one line, and leaves nothing behind.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct BadInputTests {
    private func expectRefusal(_ arguments: [String], saying words: String) async throws {
        let ended = try await Skynode.run(arguments)
        #expect(ended.status == 2, "\(arguments)")
        #expect(ended.errors.count == 1, "\(ended.errors)")
        #expect(ended.errors.first?.hasPrefix("skynode: ") == true)
        #expect(ended.errors.first?.contains(words) == true, "\(ended.errors)")
        #expect(ended.output.isEmpty)
    }

    @Test(arguments: [
        ("missing.fits", "no such file"), ("folder.fits", "a folder without FITS images"), ("empty.fits", "empty"),
        ("text.fits", "not a FITS file"), ("cut.fits", "truncated"), ("noimage.fits", "no image"),
    ])
    func `a file that cannot be scanned is named with the reason`(name: String, words: String) async throws {
        let folder = try ScratchFolder()
        mkdir(folder.file("folder.fits"), 0o755)
        try Data().write(to: URL(fileURLWithPath: folder.file("empty.fits")))
        try Data("<!DOCTYPE html><p>404".utf8).write(to: URL(fileURLWithPath: folder.file("text.fits")))
        try fits(["SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    0"])
            .write(to: URL(fileURLWithPath: folder.file("noimage.fits")))
        let cut = fits([
            "SIMPLE  =                    T", "BITPIX  =                  -32", "NAXIS   =                    2",
            "NAXIS1  =                  400", "NAXIS2  =                  400",
        ])
        try (cut + Data(count: 5000)).write(to: URL(fileURLWithPath: folder.file("cut.fits")))
        try await expectRefusal(
            ["scan", folder.file(name), "-o", folder.file("out"), "--slots", "1", "--no-multicast"], saying: words)
        #expect(access(folder.file("out"), F_OK) == -1, "no output folder is left behind")
    }

    /// A FITS header of these cards, padded to its block.
    private func fits(_ cards: [String]) -> Data {
        var text = (cards + ["END"]).map { $0.padding(toLength: 80, withPad: " ", startingAt: 0) }.joined()
        text = text.padding(toLength: 2880, withPad: " ", startingAt: 0)
        return Data(text.utf8)
    }

    @Test func `an output folder that cannot be written is refused before any work`() async throws {
        let folder = try ScratchFolder()
        let made = try await Skynode.run("synthesize", folder.file("sky.fits"), "--width", "64", "--height", "64")
        #expect(made.status == 0)
        try await expectRefusal(["scan", folder.file("sky.fits"), "-o", "/proc/nothing"], saying: "cannot be written")
        // The image itself, and another.
        let before = try folder.contents("sky.fits")
        try await expectRefusal(
            ["scan", folder.file("sky.fits"), "-o", folder.file("sky.fits")], saying: "is read by this scan")
        try await expectRefusal(
            ["scan", folder.file("sky.fits"), "-o", folder.file("sky.fits"), "--overwrite"],
            saying: "is read by this scan")
        try FileManager.default.copyItem(atPath: folder.file("sky.fits"), toPath: folder.file("other.fits"))
        try await expectRefusal(
            ["scan", folder.file("sky.fits"), "-o", folder.file("other.fits")], saying: "is not a catalogue"
        )
        #expect(try folder.contents("sky.fits") == before && folder.contents("other.fits") == before)
        // One image has the name of another one's catalogue.
        try FileManager.default.copyItem(atPath: folder.file("sky.fits"), toPath: folder.file("sky.cat.fits"))
        try await expectRefusal(
            ["scan", folder.file("sky.fits"), folder.file("sky.cat.fits"), "-o", folder.path],
            saying: "is read by this scan")
        #expect(try folder.contents("sky.cat.fits") == before)
        unlink(folder.file("sky.cat.fits"))
        try await expectRefusal(
            ["scan", folder.file("sky.fits"), "-o", folder.file("sky_truth.csv/x")], saying: "file")
    }

    @Test func `the readable images of several are scanned, and the others are named`() async throws {
        let folder = try ScratchFolder()
        let made = try await Skynode.run("synthesize", folder.file("sky.fits"), "--width", "64", "--height", "64")
        #expect(made.status == 0)
        try Data("<!DOCTYPE html><p>404".utf8).write(to: URL(fileURLWithPath: folder.file("text.fits")))
        let ended = try await Skynode.run(
            "scan", folder.file("text.fits"), folder.file("sky.fits"), folder.file("missing.fits"), "-o",
            folder.file("out"), "--slots", "1", "--no-multicast", "--no-picture")
        #expect(ended.status == 2)
        let named = ended.errors.filter { $0.hasPrefix("skynode: ") }
        #expect(named.count == 2, "\(ended.errors)")
        #expect(named.first?.contains("text.fits: not a FITS file") == true)
        #expect(named.last?.contains("missing.fits: no such file") == true)
        #expect(try !folder.contents("out/sky.csv").isEmpty)
    }

    @Test(arguments: [
        (["serve", "--slots", "1025"], "--slots 1025"),
        (["simulate", "--slots", "0"], "--slots 0"),
        (["serve", "--listen", "0.0.0.0:0"], "--insecure"),
        (["serve", "--listen", "nonsense"], "HOST:PORT"),
        (["serve", "--interface", "nosuch0"], "no interface"),
        (["serve", "--multicast", "10.0.0.1:5"], "multicast group"),
        (["frobnicate"], "unknown command"),
        (["simulate", "--tasks", "0"], "number of tasks"),
        (["simulate", "--tasks", "many"], "--tasks"),
        (["simulate", "--duration", "3 weeks"], "--duration"),
        (["scan"], "at least one FITS image"),
        (["scan", "--frobnicate"], "--frobnicate"),
        (["scan", "x.fits", "--sector", "7"], "sector size"),
        (["scan", "x.fits", "--threshold", "nan"], "threshold"),
        (["synthesize", "/nonexistent/x.fits", "--width", "64"], "/nonexistent"),
        (["synthesize", "x.fits", "--width", "0"], "width"),
        (["synthesize", "x.fits", "--bitpix", "-16"], "BITPIX"),
        (["synthesize", "x.fits", "--profile", "airy"], "moffat"),
        (["synthesize", "x.fits", "--movers", "3"], "2 epochs"),
        (["synthesize", "/nonexistent/x.fits", "--width", "64", "--epochs", "2"], "x_e0.fits"),
    ])
    func `wrong flags are refused in one line`(arguments: [String], words: String) async throws {
        try await expectRefusal(arguments, saying: words)
    }

    @Test func `a busy port is named`() async throws {
        try await RunningCluster.with(1, slots: 1) { cluster in
            try await expectRefusal(
                ["serve", "--listen", cluster.addresses[0], "--no-multicast"], saying: "the port is busy")
        }
    }

    @Test func `a cluster that cannot be reached is exit code 3`() async throws {
        let ended = try await Skynode.run("nodes", "--node", "127.0.0.1:1")
        #expect(ended.status == 3)
        #expect(ended.errors.count == 1)
    }
}
