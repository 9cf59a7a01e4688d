import Foundation
import Testing

/// `--detect` as somebody at a terminal meets it.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct DualImageTests {
    private func made(
        _ name: String, _ width: Int, height: Int = 160, stars: Int = 40, in folder: ScratchFolder
    ) async throws -> String {
        let made = try await Skynode.run(
            "synthesize", folder.file(name), "--width", "\(width)", "--height", "\(height)", "--stars", "\(stars)",
            "--seed", "3",
            "--galaxies", "0")
        #expect(made.status == 0, "\(made.errors)")
        return folder.file(name)
    }

    private func scan(_ arguments: [String], in folder: ScratchFolder) async throws -> Ended {
        try await Skynode.run(
            ["scan"] + arguments + ["--slots", "2", "--no-multicast", "--no-picture", "--no-cache"])
    }

    @Test func `each measured image has a catalogue of the detection image's sources, which names it`() async throws {
        let folder = try ScratchFolder()
        let (one, other) = (try await made("one.fits", 200, in: folder), try await made("other.fits", 200, in: folder))
        let ended = try await scan(
            [one, other, "--detect", one, "-o", folder.file("out") + "/", "--format-catalogue", "csv,ecsv"], in: folder)
        #expect(ended.status == 0, "\(ended.errors)")
        let rows = ["one", "other"].map { try? folder.contents("out/\($0).csv") }
        // The two frames have the same seed.
        #expect(rows[0] != nil && rows[0] == rows[1])
        let table = String(decoding: try folder.contents("out/other.ecsv"), as: UTF8.self)
        #expect(table.contains("DETECT") && table.contains("one.fits"), "\(table.prefix(900))")
    }

    @Test func `a JSON line has the width of the stars and the other files that were used`() async throws {
        let folder = try ScratchFolder()
        let one = try await made("one.fits", 800, height: 800, stars: 300, in: folder)
        let ended = try await scan(
            [one, "--detect", one, "-o", folder.file("out") + "/", "--format", "json"], in: folder)
        #expect(ended.status == 0)
        let line = try #require(ended.output.last { $0.contains("\"event\":\"catalogue\"") })
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let others = try #require(object["others"] as? [[String: Any]])
        #expect(others.map { $0["use"] as? String } == ["DETECT"] && others[0]["path"] as? String == one)
        let seeing = try #require(object["seeing"] as? [String: Any])
        #expect(["fwhm", "error", "count"].allSatisfy { seeing[$0] != nil }, "\(line)")
        #expect((object["files"] as? [String])?.isEmpty == false && (object["sources"] as? Int ?? 0) > 10)
    }

    @Test func `impossible options are refused in one line, and nothing is written`() async throws {
        let folder = try ScratchFolder()
        let (one, wide) = (try await made("one.fits", 200, in: folder), try await made("wide.fits", 240, in: folder))
        for (arguments, words) in [
            (["--detect", wide], "240 x 160 pixels"), (["--detect", one, "--inject", "5"], "--inject"),
            (["--detect", one, "--reference", one], "--reference"), (["--detect", one, "--bayer", "RGGB"], "--bayer"),
            (["--detect", one, "--check-image", "background"], "--check-image"), (["--detect-plane", "2"], "--detect"),
            (["--detect", one, "--detect-plane", "0"], "plane 0"),
            (["--detect", one, "--detect-hdu", "10000"], "9999"),
            (["--detect", folder.file("none.fits")], "none.fits"),
        ] {
            let ended = try await scan([one, "-o", folder.file("out") + "/"] + arguments, in: folder)
            #expect(ended.status == 2, "\(arguments)")
            #expect(ended.errors.count == 1 && ended.errors.contains { $0.contains(words) }, "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
        }
    }
}
