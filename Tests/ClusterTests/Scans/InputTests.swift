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
        let weight = frames.file("weight.fits")
        try FileManager.default.copyItem(atPath: frames.file("sky_e0.fits"), toPath: weight)
        #expect(try await RunningProcess("/usr/bin/gzip", [weight]).end().status == 0)
        let files = [frames.file("sky_e1.fits"), frames.file("sky_e0.fits"), weight + ".gz"]
        try await RunningCluster.with(
            2, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let alice = keys.of("alice", cluster.addresses[0])
            let reference = ["--reference", laptop.file("sky_e0.fits"), "--difference"]
            let (weight, detect) = (
                ["--weight", laptop.file("weight.fits.gz")], ["--detect", laptop.file("sky_e0.fits")]
            )
            let checks = ["--check-image", "segmentation"]
            let scans = [("changes", reference), ("dual", detect), ("weighted", weight + checks)]
            func words(_ name: String, _ options: [String], _ output: String) -> [String] {
                ["scan", laptop.file("sky_e1.fits"), "-o", out.file(output + "-" + name), "--sector", "256"]
                    + ["--no-cache"] + options + alice
            }
            for (name, options) in scans {
                let sent = try await run(laptop.path, with: files, words(name, options, "sent"))
                #expect(sent.status == 0, "\(sent.errors)")
                // A file that a job has needed is still there for the next.
                let count = sent.errors.count { $0.contains("no node that can take it now has it; sending") }
                #expect(count == ["changes": 2, "weighted": 1][name, default: 0], "\(sent.errors)")
            }
            // The nodes get the files under the same path.
            for file in files {
                let name = URL(fileURLWithPath: file).lastPathComponent
                try FileManager.default.copyItem(atPath: file, toPath: laptop.file(name))
            }
            for (name, options) in scans {
                let there = try await Skynode.run(words(name, options, "there"))
                #expect(there.status == 0, "\(there.errors)")
                #expect(!there.errors.contains { $0.contains("sending") })
            }
        }
        var names = [
            "changes/sky_e1.changes.csv", "changes/sky_e1.difference.fits", "weighted/sky_e1.segmentation.fits",
        ]
        for folder in ["changes", "dual", "weighted"] {
            for ending in ["csv", "cat.fits", "reg", "jpg"] { names.append("\(folder)/sky_e1.\(ending)") }
        }
        for name in names {
            #expect(try out.contents("sent-" + name) == out.contents("there-" + name), "\(name)")
        }
        for name in ["changes/sky_e1.html", "changes/sky_e1.changes.html", "dual/sky_e1.html", "weighted/sky_e1.html"] {
            #expect(!(try out.contents("sent-" + name).isEmpty), "\(name)")
        }
    }

    @Test func `a file is the one that the command sees, and who has sent it does not matter to others`() async throws {
        let keys = try await IssuedKeys([("alice", "user"), ("bob", "user")])
        let (mine, shared, laptop, out) = (
            try ScratchFolder(), try ScratchFolder(), try ScratchFolder(), try ScratchFolder()
        )
        for (file, seed) in [(mine.file("sky.fits"), "1"), (laptop.file("sky.fits"), "2")] {
            let made = try await Skynode.run(
                "synthesize", file, "--width", "700", "--height", "600", "--seed", seed)
            #expect(made.status == 0)
        }
        try FileManager.default.copyItem(atPath: mine.file("sky.fits"), toPath: shared.file("sky.fits"))
        try await RunningCluster.with(
            1, slots: 2, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let (alice, bob) = (keys.of("alice", cluster.addresses[0]), keys.of("bob", cluster.addresses[0]))
            // The node has another file under the path of Alice's, although it is on the same machine.
            let sent = try await run(
                laptop.path, with: [mine.file("sky.fits")],
                ["scan", laptop.file("sky.fits"), "-o", out.file("sent")] + alice)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(
                sent.errors.count { $0.contains("no node that can take it now has it; sending") } == 1, "\(sent.errors)"
            )
            for (name, options) in [("bob", []), ("again", ["--no-cache"]), ("deep", ["--threshold", "3"])] {
                let own = try await Skynode.run(
                    ["scan", shared.file("sky.fits"), "-o", out.file(name), "-q"] + options + bob)
                #expect(own.status == 0 && own.errors.isEmpty, "\(own.errors)")
            }
            // Without that mount it is the node's file.
            let other = try await Skynode.run(["scan", laptop.file("sky.fits"), "-o", out.file("other")] + alice)
            #expect(other.status == 0 && !other.errors.contains { $0.contains("sending") }, "\(other.errors)")
        }
        for name in ["bob", "again"] {
            #expect(try out.contents(name + "/sky.jpg") == out.contents("sent/sky.jpg"), "\(name)")
        }
        #expect(try out.contents("other/sky.jpg") != out.contents("sent/sky.jpg"))
        #expect(!(try out.contents("deep/sky.html").isEmpty))
    }

    /// Of two nodes, one cannot take a scan when it is submitted, or may not.
    enum Obstacle: CaseIterable { case otherIsDrained, askedIsDrained, otherIsBusy, askedIsAvoided, askedIsSlotless }

    @Test(arguments: Obstacle.allCases)
    func `an image is sent where the nodes that could take it now do not have it`(_ obstacle: Obstacle) async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        let (frames, laptop, out) = (try ScratchFolder(), try ScratchFolder(), try ScratchFolder())
        let image = frames.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "600", "--height", "500").status == 0)
        let admin = ["--cluster-key", keys.cluster]
        try await RunningCluster.with(
            2, slots: nil,
            options: { admin + ["--slots", obstacle == .askedIsSlotless && $0 == 1 ? "0" : "1"] }, keys: admin
        ) { cluster in
            let asked = ["--node", cluster.addresses[0]]
            var options: [String] = []
            switch obstacle {
            case .otherIsDrained, .askedIsDrained:
                let name = obstacle == .askedIsDrained ? "node1" : "node2"
                #expect(try await Skynode.run(["nodes", "drain", name] + asked + admin).status == 0)
            case .otherIsBusy:
                let busy = ["--tasks", "1", "--duration", "600s", "--use-node", "node2", "--priority", "9", "--detach"]
                #expect(try await Skynode.run(["simulate"] + busy + asked + admin).status == 0)
            case .askedIsAvoided: options = ["--avoid-node", "node1"]
            case .askedIsSlotless: break
            }
            let sent = try await run(
                laptop.path, with: [image],
                ["scan", laptop.file("sky.fits"), "-o", out.file("sent")] + options
                    + keys.of("alice", cluster.addresses[0]))
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(sent.errors.count { $0.contains("has it; sending") } == 1, "\(sent.errors)")
        }
        let alone = try await Skynode.run("scan", "--alone", image, "-o", out.file("alone"))
        #expect(alone.status == 0)
        for name in ["sky.csv", "sky.jpg"] {
            #expect(try out.contents("sent/" + name) == out.contents("alone/" + name), "\(name)")
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
            #expect(
                night.errors.count { $0.contains("no node that can take it now has it; sending") } == 4,
                "\(night.errors)")
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
