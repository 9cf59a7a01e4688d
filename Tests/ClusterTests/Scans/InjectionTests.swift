import Foundation
import Testing

/// Artificial stars in a real scan.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct InjectionTests {
    private struct Line: Decodable {
        var event: String
        var brightest: Double?
        var stars: Int?
        var found: Int?
        var completeness: Double?
        var autoError: Double?
        var apertureError: Double?
        var magnitude50: Double?
        var magnitude90: Double?
        var rounds: Int?
    }

    /// A field of stars of a Gaussian profile, whose light an aperture can hold whole.
    private func sky(in folder: ScratchFolder, size: Int = 1024) async throws -> String {
        let file = folder.file("sky.fits")
        let made = try await Skynode.run(
            "synthesize", file, "--width", "\(size)", "--height", "\(size)", "--seed", "12", "--profile", "gaussian",
            "--galaxies", "0", "--stars", "500")
        #expect(made.status == 0)
        return file
    }

    @Test func `injected stars show how faint a scan sees, and the catalogue contains none of them`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder)
        try await RunningCluster.with(2, slots: 2) { cluster in
            let scan = ["scan", image, "--node", cluster.addresses[0], "--sector", "512", "--zero-point", "25"]
            let plain = try await Skynode.run(scan + ["-o", folder.file("plain")])
            #expect(plain.status == 0)
            let inject = ["--inject", "400", "--inject-profile", "gaussian", "--inject-seed", "5"]
            let tested = try await Skynode.run(scan + inject + ["-o", folder.file("tested"), "--format", "json"])
            #expect(tested.status == 0, "\(tested.errors)")
            let lines = tested.output.compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            let bins = lines.filter { $0.event == "injectionBin" }
            #expect(bins.count >= 8 && bins.reduce(0) { $0 + ($1.stars ?? 0) } > 380)
            #expect(bins.first?.completeness == 1)
            #expect((bins.last?.completeness ?? 1) < 0.2)
            for bin in bins.prefix(3) {
                let (automatic, aperture) = (try #require(bin.autoError), try #require(bin.apertureError))
                #expect(abs(automatic) < 0.05 && abs(aperture) < 0.05)
            }
            let whole = try #require(lines.last { $0.event == "injection" })
            let (half, most) = (try #require(whole.magnitude50), try #require(whole.magnitude90))
            #expect(whole.stars == 400 && most < half && half - most < 1)

            // The same stars again, from earlier results, in the text format.
            let again = try await Skynode.run(scan + inject + ["-o", folder.file("again")])
            #expect(again.status == 0)
            #expect(again.output.contains { $0.contains("400 stars injected, gaussian of 3.") })
            #expect(again.output.contains { $0.hasPrefix("50 % complete to magnitude ") })
            #expect(try folder.contents("again/sky.injection.csv") == folder.contents("tested/sky.injection.csv"))
            #expect(try folder.contents("again/sky.injection.svg") == folder.contents("tested/sky.injection.svg"))
            let jobs = try await Skynode.run("jobs", "--node", cluster.addresses[0])
            #expect(jobs.output.count { $0.contains("with 400 injected stars") } == 2, "\(jobs.output)")
        }
        for ending in ["csv", "cat.fits", "reg", "jpg"] {
            #expect(
                try folder.contents("plain/sky.\(ending)") == folder.contents("tested/sky.\(ending)"), "sky.\(ending)")
        }
        let rows = String(decoding: try folder.contents("tested/sky.injection.csv"), as: UTF8.self)
            .split(separator: "\n")
        #expect(rows.count == 401 && rows.first?.hasPrefix("ROUND,NUMBER,X_IMAGE,Y_IMAGE,ALPHA_J2000") == true)
    }

    @Test func `one scan can be compared and tested with stars, and its page links to both`()
        async throws
    {
        let folder = try ScratchFolder()
        let made = try await Skynode.run(
            "synthesize", folder.file("sky.fits"), "--width", "700", "--height", "600", "--epochs", "2", "--transients",
            "8", "--seed", "4")
        #expect(made.status == 0)
        let scan = [
            "scan", folder.file("sky_e1.fits"), "--reference", folder.file("sky_e0.fits"), "--sector", "384", "--slots",
            "2", "--no-multicast",
        ]
        let plain = try await Skynode.run(scan + ["-o", folder.file("plain")])
        let both = try await Skynode.run(scan + ["--inject", "60", "-o", folder.file("both")])
        #expect(plain.status == 0 && both.status == 0, "\(both.errors)")
        #expect(both.output.contains { $0.contains("60 stars injected") })
        for name in ["sky_e1.csv", "sky_e1.changes.csv", "sky_e1.changes.html"] {
            #expect(
                try folder.contents("both/" + name) == folder.contents("plain/" + name), "\(name): no star is in it")
        }
        let page = String(decoding: try folder.contents("both/sky_e1.html"), as: UTF8.self)
        for ending in [".changes.html", ".injection.svg", ".injection.csv"] {
            #expect(page.contains("href=\"sky_e1\(ending)\""))
            #expect(try !folder.contents("both/sky_e1" + ending).isEmpty)
        }
        let without = String(decoding: try folder.contents("plain/sky_e1.html"), as: UTF8.self)
        #expect(without.contains(".changes.html\"") && !without.contains(".injection"))
    }

    @Test func `every image is tested by itself, and impossible options are refused in one line`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder, size: 256)
        try FileManager.default.copyItem(atPath: image, toPath: folder.file("other.fits"))
        let both = try await Skynode.run(
            "scan", image, folder.file("other.fits"), "-o", folder.file("out"), "--slots", "2", "--no-multicast",
            "--no-picture", "--format-catalogue", "csv", "--inject", "120", "--inject-fwhm", "3.2",
            "--inject-magnitudes", "-12:-6", "--no-cache", "--gain", "1.5", "--zero-point", "0", "--format", "json")
        #expect(both.status == 0, "\(both.errors)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).sorted() == [
                "merged.csv", "other.csv", "other.injection.csv", "sky.csv", "sky.injection.csv",
            ])
        #expect(try folder.contents("out/sky.injection.csv") == folder.contents("out/other.injection.csv"))
        let lines = both.output.compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(lines.filter { $0.event == "injection" }.map(\.rounds) == [2, 2], "there is no room for all at once")
        #expect(lines.contains { $0.event == "injectionBin" && abs(($0.brightest ?? 0) + 12) < 1e-9 })

        for (arguments, word) in [
            (["--inject", "0"], "--inject 0"), (["--inject", "50", "--detach"], "contradict each other"),
            (["--inject-seed", "4"], "goes with --inject"),
            (["--inject", "9", "--inject-fwhm", "99"], "--inject-fwhm 99"),
            (["--inject", "9", "--inject-magnitudes", "24:18"], "24:18"),
            (["--inject", "9", "-o", folder.file("a.csv")], "name a folder"),
        ] {
            let refused = try await Skynode.run(["scan", image, "-o", folder.file("none")] + arguments)
            #expect(refused.status == 2, "\(arguments)")
            #expect(refused.errors.joined().contains(word), "\(arguments): \(refused.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
        }
    }
}
