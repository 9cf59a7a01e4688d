import Foundation
import Glibc
import Testing

/// Where the output of a command cannot go.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct OutputTests {
    private static let words = "skynode: cannot write to standard output: No space left on device"

    /// That a command says in one line that its output is lost.
    private func expectLoss(_ command: String) async throws {
        let ended = try await Skynode.shell("\"$0\" \(command) > /dev/full")
        #expect(ended.status == 2, "\(command)")
        #expect(ended.errors.filter { $0.hasPrefix("skynode: ") } == [Self.words], "\(command)")
    }

    @Test(arguments: ["version", "version --format json", "--help", "scan --help", "--generate-completion-script bash"])
    func `output that cannot be written is an error in every command`(command: String) async throws {
        try await expectLoss(command)
    }

    @Test func `commands that ask nodes report that their output cannot be written`() async throws {
        let folder = try ScratchFolder()
        let made = try await Skynode.run("synthesize", folder.file("sky.fits"), "--width", "64", "--height", "64")
        #expect(made.status == 0)
        try await expectLoss("synthesize '\(folder.file("other.fits"))' --width 64 --height 64")
        try await RunningCluster.with(1, slots: 2) { cluster in
            let node = "--node \(cluster.addresses[0])"
            for format in ["text", "json"] {
                for command in [
                    "simulate --tasks 3 --duration 1ms",
                    "scan '\(folder.file("sky.fits"))' --no-picture -o '\(folder.file("out"))'", "jobs", "nodes",
                    "nodes --watch", "jobs storage",
                ] {
                    try await expectLoss("\(command) \(node) --format \(format)")
                }
            }
            #expect(access(folder.file("out/sky.csv"), R_OK) == 0, "the files are written in any case")
            let head = try await Skynode.shell("\"$0\" jobs \(node) --format json | head -n 1")
            #expect(head.status == 0 && head.errors.isEmpty, "a reader that has read enough is no failure")
        }
    }

    @Test func `with standard output closed, nothing is written into other files instead`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("sky.fits")
        let made = try await Skynode.shell("\"$0\" synthesize '\(file)' --width 64 --height 64 --seed 3 >&-")
        #expect(made.status == 2)
        #expect(made.errors == ["skynode: cannot write to standard output: Bad file descriptor"])
        let again = try await Skynode.run(
            "synthesize", folder.file("again.fits"), "--width", "64", "--height", "64", "--seed", "3")
        #expect(again.status == 0)
        #expect(try folder.contents("sky.fits") == folder.contents("again.fits"))
    }

    // MARK: - Files of somebody else

    /// That a command ends with exit code 2 and one line, and leaves a file as it was.
    private func expectRefusal(_ arguments: [String], of file: String, saying words: String) async throws {
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let ended = try await Skynode.run(arguments)
        #expect(ended.status == 2 && ended.output.isEmpty, "\(arguments)")
        #expect(ended.errors.count == 1 && ended.errors.first?.contains(words) == true, "\(ended.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before, "\(arguments)")
    }

    @Test func `synthesize replaces its own frames only, and writes FITS files only`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("p.fits")
        let small = ["--width", "64", "--height", "64"]
        try Data("SIMPLE  =                    T".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o444)
        try await expectRefusal(["synthesize", file] + small, of: file, saying: "read-only")
        chmod(file, 0o644)
        try await expectRefusal(["synthesize", file] + small, of: file, saying: "is not a synthetic frame")
        #expect(!FileManager.default.fileExists(atPath: folder.file("p_truth.csv")))
        let ended = try await Skynode.run(["synthesize", file, "--overwrite"] + small)
        #expect(ended.status == 0)
        #expect(try await Skynode.run(["synthesize", file] + small).status == 0, "it is the program's now")
        try await expectRefusal(
            ["synthesize", folder.file("p.fit")] + small, of: folder.file("p_truth.csv"), saying: "is the truth of")
        // The truth of a frame, and of a later epoch.
        for name in ["q_truth.csv", "q_e1_truth.csv", "q_e1.fits", "sky.jpg"] {
            try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file(name)))
        }
        let q = folder.file("q.fits")
        try await expectRefusal(
            ["synthesize", q] + small, of: folder.file("q_truth.csv"), saying: "is not a truth file")
        try await expectRefusal(
            ["synthesize", q, "--epochs", "2"] + small, of: folder.file("q_e1.fits"), saying: "is not a synthetic frame"
        )
        #expect(!FileManager.default.fileExists(atPath: folder.file("q_e0.fits")), "no epoch is written then")
        for arguments in [[], ["--overwrite"]] {
            try await expectRefusal(
                ["synthesize", folder.file("sky.jpg")] + arguments + small, of: folder.file("sky.jpg"), saying: ".fits")
        }
        let long = folder.file(String(repeating: "n", count: 246) + ".fits")
        try await expectRefusal(["synthesize", long] + small, of: file, saying: "its name has 256 bytes")
    }

    @Test func `a scan replaces no file of somebody else, whatever it writes`() async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "64", "--height", "64").status == 0)
        let scan = ["scan", image, "--alone", "--slots", "1"]
        let names = ["csv", "cat.fits", "reg", "jpg", "sectors.png", "html", "rms.fits"]
        for ending in names + ["injection.csv", "injection.svg", "changes.csv", "changes.html", "difference.fits"] {
            let file = folder.file("sky." + ending)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
            let asking =
                scan + [
                    "-o", folder.path, "--check-image", "rms", "--inject", "3", "--reference", image, "--difference",
                ]
            try await expectRefusal(asking, of: file, saying: "sky.\(ending): is not a ")
            unlink(file)
        }
        for _ in 0..<2 {
            let ended = try await Skynode.run(scan + ["-o", folder.path, "--check-image", "rms"])
            #expect(ended.status == 0, "\(ended.errors)")
            for ending in names {
                #expect(FileManager.default.fileExists(atPath: folder.file("sky." + ending)), "\(ending)")
            }
        }
    }

    @Test func `no file that a command or its job reads is replaced, whatever is allowed`() async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "64", "--height", "64").status == 0)
        let (columns, weight) = (folder.file("p.csv"), folder.file("old/sky.cat.fits"))
        try Data("NUMBER\nX_IMAGE\n".utf8).write(to: URL(fileURLWithPath: columns))
        mkdir(folder.file("old"), 0o755)
        for name in ["old/sky.fits", "old/sky.cat.fits", "sky.cat.fits", "sky_w.fits"] {
            try FileManager.default.copyItem(atPath: image, toPath: folder.file(name))
        }
        try await RunningCluster.with(1, slots: 1) { cluster in
            let node = ["--overwrite", "--node", cluster.addresses[0]]
            try await expectRefusal(
                ["scan", image, "--columns", "@" + columns, "-o", columns] + node, of: columns,
                saying: "is read by this")
            let compared = ["scan", image, "--reference", folder.file("old/sky.fits"), "--weight", "%.cat.fits"]
            try await expectRefusal(
                compared + ["-o", folder.file("old")] + node, of: weight, saying: "is read by this")
            let submitted = try await Skynode.run(["scan", image, "--weight", "%_w.fits", "--detach"] + node.suffix(2))
            let job = try #require(submitted.output.last, "\(submitted.errors)")
            #expect(try await Skynode.run(["jobs", "watch", job] + node.suffix(2)).status == 0)
            for file in [image, folder.file("sky_w.fits")] {
                try await expectRefusal(
                    ["jobs", "results", job, "-o", file] + node, of: file, saying: "is read by this")
            }
        }
    }

    @Test func `results of an image are there completely, or not at all`() async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        #expect(
            try await Skynode.run("synthesize", image, "--width", "300", "--height", "300", "--stars", "200").status
                == 0)
        for kilobytes in [16, 64, 128, 200] {
            let disk = try SmallDisk(kilobytes: kilobytes)
            try Data("NUMBER,X_IMAGE,Y_IMAGE\n".utf8).write(to: URL(fileURLWithPath: disk.path + "/sky.csv"))
            let ended = try await Skynode.run(
                "scan", image, "--alone", "--slots", "1", "-o", disk.path, "--check-image", "rms,background")
            #expect(ended.status == 2, "\(kilobytes): \(ended.errors)")
            #expect(ended.errors.filter { $0.contains("the disk is full") }.count == 1, "\(ended.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["sky.csv"])
            #expect(try String(contentsOfFile: disk.path + "/sky.csv", encoding: .utf8) == "NUMBER,X_IMAGE,Y_IMAGE\n")
        }
    }
}
