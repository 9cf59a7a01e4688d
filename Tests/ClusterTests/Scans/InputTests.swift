import Foundation
import Testing

/// Files that only the machine of a command has, which is no node: it sends them.
@Suite(
    .timeLimit(.minutes(Skynode.minutes(4))),
    .enabled(if: HiddenFolder.obstacle == nil, "no folder can be hidden: \(HiddenFolder.obstacle ?? "")"))
struct InputTests {
    /// Runs a command on a machine of its own, where a folder has copies of files; nodes find it empty, or with other files.
    private func run(_ folder: String, with files: [String], _ arguments: [String]) async throws -> Ended {
        let words = (["cp", "-p"] + files + [folder]).map { "'\($0)'" }.joined(separator: " ")
        let process = try RunningProcess(
            "/usr/bin/unshare",
            HiddenFolder.arguments(folder) + ["sh", "-c", "\(words) && exec \"$0\" \"$@\"", Skynode.path] + arguments)
        return await process.end()
    }

    @Test func `a user's image is sent, and the catalogue is that of a node that has it`() async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        let (frames, laptop, out) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        let made = try await Skynode.run(
            "synthesize", frames.file("sky.fits"), "--width", "900", "--height", "800", "--epochs", "2", "--transients",
            "5")
        #expect(made.status == 0)
        let (new, old) = (frames.file("sky_e1.fits"), frames.file("sky_e0.fits"))
        try await RunningCluster.with(
            2, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let alice = keys.of("alice", cluster.addresses[0])
            let reference = ["--reference", laptop.file("sky_e0.fits"), "--difference"]
            let scans = [("changes", reference), ("dual", ["--detect", laptop.file("sky_e0.fits")])]
            func words(_ name: String, _ options: [String], _ output: String) -> [String] {
                ["scan", laptop.file("sky_e1.fits"), "-o", out.file(output + "-" + name), "--sector", "256"]
                    + ["--no-picture", "--no-cache"] + options + alice
            }
            for (name, options) in scans {
                let sent = try await run(laptop.path, with: [new, old], words(name, options, "sent"))
                #expect(sent.status == 0, "\(sent.errors)")
                // A file that a job has needed is still there for the next.
                let count = sent.errors.count { $0.contains("no node has it; sending") }
                #expect(count == (name == "changes" ? 2 : 0), "\(sent.errors)")
            }
            // The nodes get the files under the same path.
            for file in [new, old] {
                let name = URL(fileURLWithPath: file).lastPathComponent
                try FileManager.default.copyItem(atPath: file, toPath: laptop.file(name))
            }
            for (name, options) in scans {
                let there = try await Skynode.run(words(name, options, "there"))
                #expect(there.status == 0, "\(there.errors)")
                #expect(!there.errors.contains { $0.contains("sending") })
            }
        }
        for name in ["changes/sky_e1.changes.csv", "changes/sky_e1.difference.fits"]
            + ["csv", "cat.fits", "reg"].flatMap({ ["changes/sky_e1." + $0, "dual/sky_e1." + $0] })
        {
            #expect(try out.contents("sent-" + name) == out.contents("there-" + name), "\(name)")
        }
    }

    @Test func `images that fit only one by one are sent as there is room, and none drives out another`() async throws {
        let keys = try await IssuedKeys([])
        // A frame has 2818 KiB.
        for (name, bytes) in [("alice", "3M"), ("bob", "6M")] {
            try await keys.issue(name, "user", as: name, ["--bytes", bytes])
        }
        let (frames, laptop, out) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        let made = try await Skynode.run(
            "synthesize", frames.file("sky.fits"), "--width", "900", "--height", "800", "--epochs", "4")
        #expect(made.status == 0)
        let names = (0..<4).map { "sky_e\($0)" }
        let files = names.map { frames.file($0 + ".fits") }
        let images = names.map { laptop.file($0 + ".fits") }
        let common = ["--no-picture", "--no-cache", "-o"]
        try await RunningCluster.with(
            1, slots: 2, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let (alice, bob) = (keys.of("alice", cluster.addresses[0]), keys.of("bob", cluster.addresses[0]))
            let night = try await run(
                laptop.path, with: files, ["scan"] + images + common + [out.file("night")] + alice)
            #expect(night.status == 0, "\(night.errors)")
            #expect(night.errors.count { $0.contains("no node has it; sending") } == 4, "\(night.errors)")
            for name in names { #expect(!(try out.contents("night/\(name).csv").isEmpty)) }
            // Those of one job are there together, or never.
            let never = try await run(
                laptop.path, with: files,
                ["scan", images[0], "--detect", images[1]] + common + [out.file("never")] + alice)
            #expect(never.status == 2, "\(never.errors)")
            #expect(
                never.errors.contains { $0.contains("it and the other files of its job have 5636 KiB, and 3072 KiB") },
                "\(never.errors)")
            for (name, options) in [("changes", "--reference"), ("dual", "--detect")] {
                let words = ["scan"] + images.dropFirst(2) + [options, images[0]] + common + [out.file(name)]
                let together = try await run(laptop.path, with: files, words + bob)
                #expect(together.status == 0, "\(together.errors)")
                for image in names.dropFirst(2) {
                    let file = name + "/" + image + (name == "changes" ? ".changes.csv" : ".csv")
                    #expect(!(try out.contents(file).isEmpty))
                }
            }
        }
    }

    @Test func `an image that cannot be sent is named with what to do`() async throws {
        let keys = try await IssuedKeys([])
        try await keys.issue("alice", "user", as: "alice", ["--bytes", "1M"])
        let (frames, laptop, out) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        let image = frames.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "600", "--height", "600").status == 0)
        try await RunningCluster.with(
            1, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let ended = try await run(
                laptop.path, with: [image],
                ["scan", laptop.file("sky.fits"), "-o", out.file("x")] + keys.of("alice", cluster.addresses[0]))
            #expect(ended.status == 2)
            let words = ended.errors.filter { $0.hasPrefix("skynode: ") }
            #expect(words.count == 1, "\(ended.errors)")
            #expect(words.first?.contains("sky.fits: this machine has it, but runs no node") == true)
            #expect(words.first?.contains("1024 KiB") == true && words.first?.contains("skynode serve") == true)
        }
    }
}
