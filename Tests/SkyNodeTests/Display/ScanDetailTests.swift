import NIOConcurrencyHelpers
import Sky
import SkyJobs
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// What is reported of a batch of scans.
struct ScanDetailTests {
    @Test func `one image is reported in full and each of many in a line, unless options say otherwise`() {
        #expect(ScanDetail(isQuiet: false, isVerbose: false, images: 1) == .summary)
        #expect(ScanDetail(isQuiet: false, isVerbose: false, images: 2) == .line)
        #expect(ScanDetail(isQuiet: false, isVerbose: true, images: 200) == .everything)
        #expect(ScanDetail(isQuiet: true, isVerbose: false, images: 1) == .errors)
        #expect(ScanDetail.summary.ofOneInFile == .line && ScanDetail.everything.ofOneInFile == .everything)
    }

    private func totals(_ sources: [Int], failed: [String] = [], leftOut: Int = 0, refused: Int = 0) -> ScanTotals {
        var totals = ScanTotals()
        sources.forEach { totals.add(sources: $0, wholly: true) }
        failed.forEach { totals.fail($0) }
        for _ in 0..<leftOut { totals.leaveOut() }
        totals.refused = refused
        return totals
    }

    @Test func `a batch ends with one line`() {
        let folder = OutputPlace.folder("out", [.csv, .fits])
        let line = totals([300, 530, 200], failed: ["a.fits", "b\u{1}.fits"], leftOut: 1, refused: 2)
            .line(.milliseconds(2100), folder, merged: ["out/merged.csv", "out/merged.cat.fits"])
        #expect(
            line == "3 images: 1030 sources in 2.10 s; 2 failed: a.fits, b?.fits; 2 could not be read; "
                + "1 without a picture of the sky; results in out; all sources in out/merged.csv, out/merged.cat.fits")
        #expect(
            totals([1]).line(.seconds(1), .file("night.csv", .csv), merged: ["night.csv"])
                == "1 image: 1 source in 1.00 s; all sources in night.csv")
        let none = totals([], failed: (1...7).map { "\($0).fits" }).line(.seconds(1), folder, merged: [])
        #expect(none.hasSuffix("7 failed: 1.fits, 2.fits, 3.fits, 4.fits, 5.fits and 2 more"), "nowhere is anything")
    }

    @Test func `a single image needs no closing line`() {
        #expect(!totals([7]).isMany && !totals([], failed: ["a"]).isMany)
        #expect(totals([7, 8]).isMany && totals([7], refused: 1).isMany && totals([7], leftOut: 1).isMany)
    }

    @Test func `an image's line names what is unusual`() {
        func line(
            _ state: JobReport.State, retries: Int, failed: Int, hasCoordinates: Bool = true, wantsPicture: Bool = false
        ) -> String {
            let report = JobReport(
                state: state, scheduled: 5, completed: 5 - failed, failed: failed, retries: retries,
                duration: .seconds(1), nodes: [])
            return ScanSummary.line(
                ScanSummary.result("a.fits", 7, report.duration), report,
                ScanSummary.Losses(report, wantsPicture: wantsPicture, hasPicture: false),
                hasCoordinates: hasCoordinates)
        }
        #expect(line(.done, retries: 0, failed: 0) == "a.fits: 7 sources in 1.00 s")
        #expect(
            line(.done, retries: 2, failed: 1, hasCoordinates: false)
                == "a.fits: 7 sources in 1.00 s, 2 retried, 1 failed, the catalogue has gaps, no coordinates")
        #expect(line(.cancelled, retries: 0, failed: 0).hasSuffix("the catalogue has gaps"))
        // A picture is no part of the catalogue.
        #expect(
            line(.done, retries: 0, failed: 1, wantsPicture: true)
                == "a.fits: 7 sources in 1.00 s, 1 failed, no picture and no page")
        #expect(
            line(.done, retries: 0, failed: 2, wantsPicture: true)
                .hasSuffix("2 failed, the catalogue has gaps, no picture and no page"))
        #expect(line(.failed, retries: 0, failed: 1, wantsPicture: true).hasSuffix("1 failed, the catalogue has gaps"))
    }

    @Test func `changes are reported in full for one image, and in a line for each of many`() {
        var changes = ChangeLines(
            image: "b.fits", reference: "a.fits", counts: ["4 appeared", "1 moved"], verdict: "stars 3 pixels wide",
            blindness: nil, doubts: ["few stars", "no times"], files: ["b.changes.csv"])
        #expect(
            changes.lines(.summary) == [
                "b.fits against a.fits: 4 appeared, 1 moved", "stars 3 pixels wide", "caution: b.fits: few stars",
                "caution: b.fits: no times", "wrote b.changes.csv",
            ])
        let line = "b.fits against a.fits: 4 appeared, 1 moved"
        #expect(changes.lines(.line) == [line + "; 2 cautions (-v prints them)"])
        (changes.doubts, changes.blindness) = ([], "of 9 bright stars 1 was found")
        #expect(changes.lines(.line) == [line, "blind: b.fits: of 9 bright stars 1 was found"])
        #expect(changes.lines(.errors) == ["blind: b.fits: of 9 bright stars 1 was found"], "the command fails by it")
        changes.blindness = nil
        #expect(changes.lines(.errors).isEmpty)
        changes.tracks = 2
        #expect(
            changes.lines(.everything).suffix(2) == ["2 tracks through three or more images", "wrote b.changes.csv"])
    }

    @Test func `only failures are reported for one image of many`() {
        let published = NIOLockedValueBox<[String]>([])
        var terminal = ProgressDisplay.Terminal(isLive: false)
        terminal.say = { line in published.withLockedValue { $0.append(line) } }
        let display = ProgressDisplay(.problems, terminal: terminal)
        let status = JobStatus(
            scheduled: 2, running: 0, completed: 1, failed: 1, retries: 1, nodes: [], elapsed: .seconds(1))
        let kinds: [JobEvent.Kind] = [
            .retrying(task: "sector 1", node: "anna", reason: "lost", delay: .zero),
            .failed(task: "sector 1", reason: "lost"),
        ]
        let events = kinds.enumerated().map { JobEvent(number: $0, time: .zero, kind: $1) }
        for printsFailuresOnly in [true, false] {
            EventPrinter(
                format: .text, isVerbose: false, display: display, subject: "a.fits",
                printsFailuresOnly: printsFailuresOnly
            ).print(EventBatch(events: events, next: 2, status: status))
        }
        #expect(
            published.withLockedValue { $0 } == [
                "Failed: sector 1 of a.fits: lost",
                "Retrying: sector 1 of a.fits failed on anna (lost), trying again",
                "Failed: sector 1 of a.fits: lost",
            ])
    }

    @Test func `an event of one kind of job has its kind's words and fields`() throws {
        var info = ImageInfo(width: 20, height: 10, bitpix: 8, hdu: 0, hasWCS: false)
        info.missingCoordinates = "none"
        let planned = ScanEvent.planned(info, sectors: 1)
        #expect(planned.words == "20 x 10 pixels, 1 sector" && planned.comesOnce)
        func line(_ event: ScanEvent) throws -> String {
            try JSONLine.encode(
                EventLine(JobEvent(number: 3, time: .seconds(1), kind: .special(event)), subject: "a.fits"))
        }
        #expect(
            try line(planned)
                == #"{"event":"planned","height":10,"missingCoordinates":"none","number":3,"seconds":1,"sectors":1,"#
                + #""subject":"a.fits","width":20}"#)
        let done = ScanEvent.sectorDone(sector: 2, sources: 7)
        #expect(done.words == nil && !done.comesOnce)
        #expect(
            try line(done)
                == #"{"event":"sector","number":3,"seconds":1,"sector":2,"sources":7,"subject":"a.fits"}"#)
    }

    @Test func `programs hear that a job goes on before they hear what it did, and of its end last`() {
        let printer = EventPrinter(
            format: .json, isVerbose: false,
            display: ProgressDisplay(.problems, terminal: ProgressDisplay.Terminal(isLive: false)))
        func lines(_ kinds: [JobEvent.Kind], paused: String?) -> [String] {
            let status = JobStatus(
                scheduled: 1, running: 0, completed: 1, failed: 0, retries: 0, nodes: [], elapsed: .zero, paused: paused
            )
            let events = kinds.enumerated().map { JobEvent(number: $0, time: .zero, kind: $1) }
            return printer.lines(EventBatch(events: events, next: kinds.count, status: status)).map { line in
                ["paused", "resumed", "completed", "ended"].first { line.contains("\"event\":\"\($0)\"") } ?? line
            }
        }
        let completed = JobEvent.Kind.completed(task: "sector 1", node: "anna")
        #expect(lines([completed], paused: "no room") == ["completed", "paused"])
        #expect(lines([completed], paused: "no room") == ["completed"])
        #expect(lines([completed, .ended(ScanFixture.report())], paused: nil) == ["resumed", "completed", "ended"])
        #expect(lines([], paused: "no room") == ["paused"])
        #expect(
            lines([.ended(ScanFixture.report(.cancelled))], paused: nil) == ["ended"],
            "a job that is cancelled does not go on")
    }

    // MARK: - The live picture

    /// What a terminal got.
    private func terminal(_ log: NIOLockedValueBox<[String]>) -> ProgressDisplay.Terminal {
        ProgressDisplay.Terminal(
            isLive: true, size: { (80, 24) },
            draw: { text in log.withLockedValue { $0.append(text.hasPrefix("\r") ? "erase" : "draw") } },
            say: { line in log.withLockedValue { $0.append(line) } },
            output: { line in log.withLockedValue { $0.append(line) } })
    }

    @Test func `the live picture is erased before a line is printed`() {
        let log = NIOLockedValueBox<[String]>([])
        let display = ProgressDisplay(.progress, terminal: terminal(log))
        var status = JobStatus(
            scheduled: 2, running: 0, completed: 1, failed: 0, retries: 0, nodes: [], elapsed: .seconds(1))
        display.show(status, of: "a.fits (changes)")
        display.output(["a.fits against b.fits: 1 appeared", "wrote a.changes.csv"])
        status.paused = "no room"
        display.show(status, of: "a.fits")
        display.finish()
        display.show(status, of: "a.fits")
        #expect(
            log.withLockedValue { $0 } == [
                "draw", "erase", "a.fits against b.fits: 1 appeared", "wrote a.changes.csv", "paused: no room", "draw",
                "erase",
            ])
    }

    @Test func `there is no live picture when only problems are reported`() {
        let log = NIOLockedValueBox<[String]>([])
        let display = ProgressDisplay(.problems, terminal: terminal(log))
        var status = JobStatus(
            scheduled: 2, running: 0, completed: 1, failed: 0, retries: 0, nodes: [], elapsed: .seconds(1))
        display.show(status)
        status.paused = "no room"
        display.show(status)
        #expect(log.withLockedValue { $0 } == ["paused: no room"])
    }
}
