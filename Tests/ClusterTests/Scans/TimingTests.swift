import Foundation
import Testing

/// `skynode scan --timing` with real nodes: the numbers add up.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(5)))) struct TimingTests {
    private struct Timing: Decodable {
        struct Step: Decodable {
            var step: String
            var seconds: Double
            var node: String?
            var isBeside: Bool?
        }

        struct Node: Decodable {
            var name: String
            var tasks: Int
            var slots: Int
            var seconds: Double
            var busySlots: Double?
            var stages: [String: Double]
        }

        var event: String
        var subject: String
        var seconds: Double
        var steps: [Step]
        var nodes: [Node]
        var cached: Int
        var remarks: [String]?

        static func all(in lines: [String]) -> [Timing] {
            lines.compactMap { try? JSONDecoder().decode(Timing.self, from: Data($0.utf8)) }
                .filter { $0.event == "timing" }
        }
    }

    private func skies(_ count: Int, in folder: ScratchFolder) async throws -> [String] {
        let made = try await Skynode.run(
            "synthesize", folder.file("sky.fits"), "--width", "512", "--height", "512", "--epochs", "\(max(2, count))",
            "--seed", "4")
        #expect(made.status == 0)
        return (0..<count).map { folder.file("sky_e\($0).fits") }
    }

    @Test func `the steps add up to the whole, and the stages to the nodes' work`() async throws {
        let folder = try ScratchFolder()
        let images = try await skies(2, in: folder)
        try await RunningCluster.with(2, slots: 2) { cluster in
            let scan = [
                "scan", "--timing", "--sector", "128", "--format", "json", "--node", cluster.addresses[0], "-o",
                folder.file("out"),
            ]
            let clock = ContinuousClock.now
            let first = try await Skynode.run(scan + [images[0]])
            let seconds = clock.duration(to: .now) / .seconds(1)
            #expect(first.status == 0, "\(first.errors)")
            let timing = try #require(Timing.all(in: first.output).first, "\(first.output)")
            #expect(timing.subject == images[0] && timing.cached == 0 && timing.remarks == nil)
            let sum = timing.steps.filter { $0.isBeside != true }.reduce(0) { $0 + $1.seconds }
            #expect(abs(sum - timing.seconds) < 1e-6)
            #expect(timing.seconds <= seconds, "the process started before its clock")
            for step in ["start", "submission", "header", "background", "sectors", "merge", "fetch", "write", "draw"] {
                #expect(timing.steps.contains { $0.step == step && $0.seconds > 0 }, "\(step): \(timing.steps)")
            }
            let names = Set(timing.nodes.map(\.name))
            #expect(timing.steps.compactMap(\.node).allSatisfy(names.contains))
            #expect(timing.nodes.reduce(0) { $0 + $1.tasks } == 1 + 16 + 16 + 1)
            var stages: [String: Double] = [:]
            for node in timing.nodes {
                #expect((1...2).contains(node.slots), "as many as the coordinator had there")
                #expect(abs(node.stages.values.reduce(0, +) - node.seconds) < 1e-6)
                stages.merge(node.stages, uniquingKeysWith: +)
            }
            for (stage, seconds) in stages { #expect(seconds > 0, "\(stage)") }
            #expect(stages.count == 9)
            let page = String(decoding: try folder.contents("out/sky_e0.html"), as: UTF8.self)
            #expect(page.contains("<h2>Time</h2>") && page.contains("<th>photometry</th>"))

            let again = try await Skynode.run(scan + [images[0]])
            let cached = try #require(Timing.all(in: again.output).first)
            #expect(cached.cached == 16 + 16 + 1 && cached.nodes.reduce(0) { $0 + $1.tasks } == 1, "only the header")
            let both = try await Skynode.run(scan + ["--no-cache"] + images)
            #expect(Timing.all(in: both.output).map(\.subject).sorted() == images)
        }
    }

    @Test func `people get a table of one image, and of several one of all`() async throws {
        let folder = try ScratchFolder()
        let images = try await skies(2, in: folder)
        let scan = ["scan", "--timing", "--alone", "--no-picture", "-o", folder.file("out")]
        let one = try await Skynode.run(scan + [images[0]])
        #expect(one.output.contains("time of the steps, one after the other, in seconds"), "\(one.output)")
        #expect(one.output.contains { $0.hasPrefix("  together ") })
        #expect(one.output.count { $0.hasPrefix("  node ") } == 2)
        let both = try await Skynode.run(scan + images)
        #expect(both.output.count { $0.hasPrefix("  together ") } == 1, "\(both.output)")
        #expect(both.output.contains { $0.hasPrefix("2 images ran side by side") })
        let each = try await Skynode.run(scan + ["--verbose"] + images)
        #expect(each.output.count { $0.hasPrefix("  together ") } == 3, "\(each.output)")
        let refused = try await Skynode.run(scan + ["--quiet", images[0]])
        #expect(refused.status == 2 && refused.errors.contains { $0.contains("--timing and --quiet") })
    }
}
