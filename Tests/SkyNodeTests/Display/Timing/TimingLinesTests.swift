import Foundation
import Sky
import Testing

@testable import SkyCore
@testable import SkyNode

/// The tables of where a scan's time went.
struct TimingLinesTests {
    private func timing(nodes: [String], scale: Int = 1) -> ScanTiming {
        let begun = ContinuousClock.now
        var laps = ScanLaps(start: .milliseconds(210 * scale), from: begun)
        laps.end(.job, at: begun + .milliseconds(1050 * scale))
        laps.merge = .milliseconds(310 * scale)
        laps.end(.fetch, at: begun + .milliseconds(1450 * scale))
        (laps.catalogues, laps.pictures) = (.milliseconds(250 * scale), .milliseconds(590 * scale))
        laps.end(.files, at: begun + .milliseconds(2050 * scale))
        var phases = PhaseTimes()
        for (number, task) in ["header", "background 1", "seeing 1", "sector 1", "large objects 1"].enumerated() {
            phases.add(
                JobEvent(
                    number: number, time: .milliseconds(150 * (number + 1) * scale),
                    kind: .completed(task: task, node: nodes[0])))
        }
        var report = ScanFixture.report()
        report.duration = .milliseconds(1000 * scale)
        report.work = nodes.map { name in
            var work = NodeWork(name: name)
            (work.tasks, work.duration, work.slots) = (40, .milliseconds(1900 * scale), 2)
            work.stages = StageTimes(
                Dictionary(
                    uniqueKeysWithValues: ScanStage.allCases.enumerated().map { place, stage in
                        (stage.rawValue, .milliseconds(50 * (place + 1) * scale))
                    }))
            return work
        }
        return ScanTiming(laps, phases, report)
    }

    @Test func `the tables say what, how long, and by whom`() {
        let lines = TimingLines(timing(nodes: ["east"]), of: "m13.fits").lines
        #expect(lines[0] == "m13.fits: time of the steps, one after the other, in seconds")
        #expect(lines.contains("  sectors         0.15   7 %  and the picture; last on east"), "\(lines)")
        #expect(lines.contains("  write           0.25        catalogues; during draw"))
        #expect(lines.contains("  together        2.26"))
        #expect(lines.contains("  node  tasks  work  busy slots"))
        #expect(lines.contains("  east     40  1.90    1.9 of 2"))
    }

    @Test(arguments: [
        (["east"], 1), (["east", "observatory-node-17.example"], 1), (["east"], 2000), (["a-name-of-14-c"], 20_000),
        ([String(repeating: "x", count: 64)], 1),
    ])
    func `tables fit a terminal of 80 columns`(nodes: [String], scale: Int) {
        let lines = TimingLines(timing(nodes: nodes, scale: scale)).lines
        #expect(lines.allSatisfy { $0.columns <= 80 }, "\(lines)")
        for end in ["other", "busy slots"] {
            #expect(lines.contains { $0.hasPrefix("  node ") && $0.hasSuffix(end) }, "no column is lost: \(lines)")
        }
    }

    @Test func `a program reads all of it in one line`() throws {
        let line = try JSONLine.encode(TimingLine(timing(nodes: ["east"]), subject: "/data/m13.fits"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["event"] as? String == "timing" && object["subject"] as? String == "/data/m13.fits")
        let steps = try #require(object["steps"] as? [[String: Any]])
        let sum = steps.filter { $0["isBeside"] == nil }.reduce(0) { $0 + ($1["seconds"] as? Double ?? 0) }
        #expect(abs(sum - (object["seconds"] as? Double ?? 0)) < 1e-9)
        let nodes = try #require(object["nodes"] as? [[String: Any]])
        let stages = try #require(nodes.first?["stages"] as? [String: Double])
        #expect(stages.count == ScanStage.allCases.count + 1)
        #expect(abs(stages.values.reduce(0, +) - (nodes[0]["seconds"] as? Double ?? 0)) < 1e-9)
    }
}
