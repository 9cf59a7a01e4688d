import Foundation
import Sky
import Testing

@testable import SkyCore
@testable import SkyNode

/// Where the time of a scan went.
struct ScanTimingTests {
    private let begun = ContinuousClock.now

    /// An event of a job, so many milliseconds after its submission.
    private func event(_ number: Int, _ milliseconds: Int, _ task: String, on node: String = "east") -> JobEvent {
        JobEvent(number: number, time: .milliseconds(milliseconds), kind: .completed(task: task, node: node))
    }

    private func phases(_ events: [JobEvent]) -> PhaseTimes {
        events.reduce(into: PhaseTimes()) { $0.add($1) }
    }

    /// The phases of a scan in 1000 ms.
    private var usual: PhaseTimes {
        phases([
            event(0, 100, "header"), event(1, 250, "background 2", on: "west"), event(2, 300, "background 1"),
            event(3, 700, "sector 1"), event(4, 650, "picture", on: "west"), event(5, 900, "sector 2", on: "west"),
        ])
    }

    /// The command's steps around a job of 1000 ms: 2300 ms in all.
    private var laps: ScanLaps {
        var laps = ScanLaps(start: .milliseconds(200), from: begun)
        laps.end(.job, at: begun + .milliseconds(1050))
        laps.merge = .milliseconds(300)
        laps.end(.fetch, at: begun + .milliseconds(1450))
        laps.end(.digest, at: begun + .milliseconds(1500))
        (laps.catalogues, laps.pictures) = (.milliseconds(250), .milliseconds(590))
        laps.end(.fetch, at: begun + .milliseconds(1600))
        laps.end(.files, at: begun + .milliseconds(2200))
        laps.end(.checkImages, at: begun + .milliseconds(2300))
        return laps
    }

    private func report(_ work: [NodeWork]?) -> JobReport {
        var report = ScanFixture.report()
        report.work = work
        return report
    }

    private func work(_ name: String, _ seconds: Double, _ stages: [String: Duration] = [:]) -> NodeWork {
        var work = NodeWork(name: name)
        (work.tasks, work.duration, work.slots) = (3, .seconds(seconds), 2)
        work.stages = StageTimes(stages)
        return work
    }

    private func milliseconds(_ timing: ScanTiming) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: timing.path.map { ($0.step.rawValue, Int(($0.seconds * 1000).rounded())) })
    }

    @Test func `the steps follow one another, and together they are the time of the whole`() {
        let timing = ScanTiming(laps, usual, report([]))
        #expect(
            milliseconds(timing) == [
                "start": 200, "submission": 50, "header": 100, "background": 200, "sectors": 600, "end": 100,
                "merge": 300, "fetch": 200, "digest": 50, "write": 250, "draw": 600, "checkImages": 100,
            ])
        #expect(abs(timing.seconds - 2.5) < 1e-9)
        #expect(
            timing.path.map(\.step)
                == ScanTiming.Step.allCases.filter { $0 != .seeing && $0 != .unions && $0 != .preparation })
    }

    @Test func `a phase is named after the node that ended it, and only the longer of two steps side by side counts`() {
        let timing = ScanTiming(laps, usual, report([]))
        let nodes = timing.path.map(\.node)
        #expect(nodes.compactMap(\.self) == ["east", "east", "west"])
        #expect(timing.path.filter(\.isBeside).map(\.step) == [.write])
    }

    @Test func `without pictures the writing counts, and what has not ended yet is left out`() {
        var laps = ScanLaps(from: begun)
        laps.end(.job, at: begun + .seconds(1))
        #expect(ScanTiming(laps, usual, report([])).path.last?.step == .end)
        laps.catalogues = .milliseconds(40)
        laps.end(.files, at: begun + .milliseconds(1050))
        let last = ScanTiming(laps, usual, report([])).path.last
        #expect(last?.step == .write && last?.isBeside == false && abs((last?.seconds ?? 0) - 0.05) < 1e-9)
    }

    @Test func `clocks that contradict each other leave the sum as the command saw it`() {
        var laps = ScanLaps(from: begun)
        laps.end(.job, at: begun + .milliseconds(500))
        laps.merge = .seconds(9)
        laps.end(.fetch, at: begun + .milliseconds(600))
        let odd = phases([event(0, 5000, "header"), event(1, 100, "background 1"), event(2, 90_000, "sector 1")])
        let timing = ScanTiming(laps, odd, report([]))
        #expect(timing.path.allSatisfy { $0.seconds >= 0 })
        #expect(abs(timing.seconds - 0.6) < 1e-9)
    }

    @Test func `the work of a node is that of its stages and the rest, beside the time that its slots had`() throws {
        let timing = ScanTiming(
            laps, usual,
            report([
                work("east", 1.5, ["read": .seconds(0.5), "photometry": .seconds(0.75), "register": .seconds(0.1)]),
                work("west", 1),
            ]))
        let east = try #require(timing.nodes.first)
        #expect(abs(east.other - 0.25) < 1e-9, "a stage of a later version is among the rest")
        #expect(abs((timing.busySlots(of: east) ?? 0) - 1.5) < 1e-6)
        #expect(timing.busyWords(east) == "1.5 of 2")
        #expect(timing.remarks == ["No stages are known of west, of an earlier version."])
    }

    @Test func `a scan that earlier results answer says so, and divides by nothing`() {
        let all = phases([event(0, 0, "header"), event(1, 0, "background 1", on: ""), event(2, 0, "sector 1", on: "")])
        var most = all
        most.add(event(3, 0, "sector 2"))
        var laps = ScanLaps(from: begun)
        laps.end(.job, at: begun)
        var none = report([])
        none.duration = .zero
        let words = [
            (all, "Everything but the header came from earlier results, which took no work."),
            (most, "2 of 4 tasks were answered by earlier results, which took no work."),
        ]
        for (phases, words) in words {
            let timing = ScanTiming(laps, phases, none)
            #expect(timing.seconds == 0 && timing.cached == 2 && timing.remarks.first == words)
            #expect(TimingLines(timing).lines.allSatisfy { !$0.contains("nan") && !$0.contains("inf") })
            #expect((try? JSONLine.encode(TimingLine(timing, subject: "x"))) != nil)
        }
    }

    @Test func `an earlier coordinator, and one that was started again, are named`() {
        #expect(ScanTiming(laps, usual, report(nil)).remarks.count == 1)
        var lost = work("east", 1, ["read": .seconds(1)])
        lost.tasks = 2
        let restarted = phases([
            event(0, 100, "header"), event(0, 500, "header"), event(1, 600, "background 1"),
            event(2, 700, "background 2"), event(3, 800, "sector 1"),
        ])
        #expect(restarted.completed == 4, "the history is told again")
        let remarks = ScanTiming(laps, restarted, report([lost])).remarks
        #expect(remarks.count == 2 && remarks[0].contains("work of 2 tasks is not known"), "\(remarks)")
    }

    @Test func `several images are added up, and their nodes worked from the first job to the end of the last`() throws
    {
        var sum = ScanTiming(laps, usual, report([work("east", 1), work("west", 2)]))
        var later = ScanLaps(from: begun + .seconds(1))
        later.end(.job, at: begun + .milliseconds(2050))
        var seeing = usual
        seeing.add(event(6, 950, "seeing 1", on: "north"))
        sum.add(ScanTiming(later, seeing, report([work("north", 4), work("east", 3)])))
        sum.add(start: .milliseconds(10))
        #expect(sum.images == 2 && sum.nodes.map(\.name) == ["east", "north", "west"])
        #expect(sum.nodes[0].seconds == 4 && sum.nodes[0].tasks == 6 && sum.nodes[0].slots == 2)
        #expect(abs(sum.workingSeconds - 2) < 1e-9)
        let times = sum.path.map { ($0.step, $0.seconds) }
        #expect(abs((times.first { $0.0 == .header }?.1 ?? 0) - 0.2) < 1e-9)
        #expect(times.contains { $0.0 == .seeing } && sum.path.allSatisfy { $0.node == nil })
        #expect(sum.remarks.first?.contains("2 images ran side by side") == true)
    }

    @Test func `numbers that a coordinator makes up are shown without a trap`() {
        var hostile = NodeWork(name: "east\u{1b}[31m")
        (hostile.tasks, hostile.slots) = (.max, .min)
        hostile.duration = Duration(secondsComponent: .max, attosecondsComponent: 0)
        hostile.stages = StageTimes(["read": Duration(secondsComponent: .min, attosecondsComponent: 0)])
        var report = report([hostile, hostile, hostile])
        report.duration = Duration(secondsComponent: .min, attosecondsComponent: 0)
        var phases = PhaseTimes()
        phases.add(JobEvent(number: .min, time: report.duration, kind: .completed(task: "header", node: "\n")))
        phases.add(JobEvent(number: .max, time: hostile.duration, kind: .completed(task: "sector 1", node: "\n")))
        var timing = ScanTiming(laps, phases, report)
        timing.add(ScanTiming(laps, phases, report))
        for line in TimingLines(timing).lines { #expect(!line.contains { $0.isNewline || $0 == "\u{1b}" }) }
        #expect((try? JSONLine.encode(TimingLine(timing, subject: "x"))) != nil)
    }
}
