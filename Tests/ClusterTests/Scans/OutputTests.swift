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
}
