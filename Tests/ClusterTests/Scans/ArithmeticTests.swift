import Foundation
import Testing

/// Nodes that measure otherwise. The C library has two forms of its mathematical functions, one for processors with fused
/// multiply-add; a tunable makes it take the other one, as on an older processor.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(5)))) struct ArithmeticTests {
    private static let withoutFusion = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"
    private static let hasFusion =
        (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.contains(" fma ") ?? false

    private struct Version: Decodable {
        var arithmetic: String

        init(_ ended: Ended) throws {
            self = try JSONDecoder().decode(Version.self, from: Data((ended.output.first ?? "").utf8))
        }
    }

    private func sky(in folder: ScratchFolder) async throws -> String {
        let file = folder.file("sky.fits")
        let made = try await Skynode.run("synthesize", file, "--width", "1024", "--height", "1024", "--seed", "9")
        #expect(made.status == 0)
        return file
    }

    @Test(.enabled(if: hasFusion, "this processor has one arithmetic only"))
    func `a processor without fused multiply-add is another arithmetic, in nothing but the mathematical functions`()
        async throws
    {
        let usual = try Version(try await Skynode.run("version", "--format", "json")).arithmetic
        let other = try Version(
            try await Skynode.shell(
                "\(Self.withoutFusion) \"$0\" version --format json")
        ).arithmetic
        let parts = zip(usual.components(separatedBy: ", "), other.components(separatedBy: ", "))
        #expect(parts.filter { $0 != $1 }.map { $0.0.hasPrefix("libm ") && $0.1.hasPrefix("libm ") } == [true])
    }

    @Test(.enabled(if: hasFusion, "this processor has one arithmetic only"))
    func `nodes that measure otherwise share no scan, and the job, the list of nodes and the header say so`()
        async throws
    {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder)
        try await RunningCluster.with(3, slots: 2, environment: { $0 == 1 ? [] : [Self.withoutFusion] }) { cluster in
            let node = ["--node", cluster.addresses[0]]
            let list = try await Skynode.run(["nodes"] + node)
            #expect(list.output.filter { $0.contains("otherwise") }.count == 2, "\(list.output)")

            // The job may use only a node that measures otherwise, so it waits.
            let waiting = try await Skynode.run(
                ["scan", image, "--no-cache", "--detach", "--use-node", "node2"] + node)
            #expect(waiting.status == 0, "\(waiting.errors)")
            let why = try await Skynode.run(["jobs", "why", try #require(waiting.output.first)] + node)
            #expect(why.output.contains { $0.contains("node2: measures otherwise (libm ") }, "\(why.output)")
            #expect(why.output.contains { $0.contains("all it may use measure otherwise") }, "\(why.output)")

            // A scan by either arithmetic has its own nodes only, and says by which it was measured.
            for (number, count, name) in [(0, 1, "usual"), (1, 2, "other")] {
                let scan = try await Skynode.run(
                    "scan", image, "--no-cache", "--no-picture", "--node", cluster.addresses[number], "--sector", "128",
                    "--format", "json", "--format-catalogue", "csv,ecsv", "-o", folder.file(name))
                #expect(scan.status == 0 && EventLine.end(of: scan.output)?.nodes?.count == count, "\(scan.output)")
            }
        }
        let headers = try ["usual", "other"].map { name in
            String(decoding: try folder.contents("\(name)/sky.ecsv"), as: UTF8.self)
                .split(separator: "\n").first { $0.hasPrefix("# - ARITHM: ") }
        }
        #expect(headers[0] != nil && headers[1] != nil && headers[0] != headers[1], "\(headers)")
    }

    /// Where the library is no file of this name, as on another architecture, there is nothing to replace.
    private static let library = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/liberfa.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    /// An upgrade of the system's libraries leaves the old ones in the daemon, and new workers have the new ones.
    @Test(.enabled(if: library != nil, "no ERFA at its usual place"))
    func `a worker with another library than its daemon gets no work, and the message says what to do`() async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder)
        let place = URL(fileURLWithPath: folder.file("liberfa.so.1"))
        var library = try Data(contentsOf: URL(fileURLWithPath: try #require(Self.library)))
        try library.write(to: place)
        try await RunningCluster.with(1, slots: 2, environment: { _ in ["LD_LIBRARY_PATH=\(folder.path)"] }) {
            cluster in
            // Another build, by its build id: the note of 20 bytes whose name is GNU.
            let note = Data([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]) + Data("GNU\u{0}".utf8)
            let mark = try #require(library.range(of: note)).upperBound
            library[mark] ^= 0xff
            // In its place by a rename, as dpkg does it: the daemon has the old file mapped.
            try library.write(to: place, options: .atomic)
            let scan = try await Skynode.run(
                "scan", image, "--no-cache", "--no-picture", "--node", cluster.addresses[0], "-o", folder.file("out"))
            #expect(scan.status != 0)
            let words = (scan.output + scan.errors).joined(separator: "\n")
            #expect(words.contains("its libraries were replaced after the node was started (erfa "), "\(words)")
            #expect(words.contains("restart the node"), "\(words)")
        }
    }
}
