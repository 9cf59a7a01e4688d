import Testing

@testable import SkyCore
@testable import SkyNode

/// What is counted of images and jobs, and what is said of it where a command stops before their end.
struct ScanTotalsTests {
    private func words(
        _ line: String, whole: Int = 0, partial: Int = 0, keepsPartial: Bool = false
    ) throws -> String {
        var totals = ScanTotals()
        for _ in 0..<whole { totals.add(sources: 1, wholly: true) }
        for _ in 0..<partial { totals.add(sources: 1, wholly: false) }
        return totals.stopLine(try ScanFixture.plan(line, images: ["a", "b", "c"]), keepsPartial: keepsPartial)
    }

    @Test func `a stopped batch says what it has written`() throws {
        #expect(try words("") == "cancelled: 0 of 3 images were scanned, nothing was written")
        #expect(
            try words("-o out/", whole: 2)
                == "cancelled: 2 of 3 images were scanned, and their files are in out; no catalogue of all was written "
                + "(--keep-partial writes one of those that are done, out/merged.partial.csv)")
        #expect(
            try words("-o out/", whole: 1, partial: 2, keepsPartial: true)
                == "cancelled: 1 of 3 images were scanned, and their files are in out, with those of 2 scanned in part; "
                + "out/merged.partial.csv has the sources of those")
        #expect(
            try words("-o out/ --no-merge", whole: 1)
                == "cancelled: 1 of 3 images were scanned, and their files are in out")
    }

    @Test func `a stopped batch with one output file writes it only with --keep-partial`() throws {
        #expect(
            try words("-o all.csv", whole: 2)
                == "cancelled: 2 of 3 images were scanned, nothing was written; --keep-partial writes those that are "
                + "done to all.partial.csv")
        #expect(
            try words("-o all.csv", whole: 2, keepsPartial: true)
                == "cancelled: 2 of 3 images were scanned; all.partial.csv has the sources of those")
        #expect(
            try words("-o -", whole: 2, keepsPartial: true)
                == "cancelled: 2 of 3 images were scanned, nothing was written", "what is cut off there looks whole")
    }

    @Test func `a node's share of the work is the number of its sectors`() {
        let shares = SectorShares()
        let kinds: [JobEvent.Kind] = [
            .completed(task: "header", node: "bo"), .completed(task: "sector 1", node: "bo"),
            .completed(task: "sector 2", node: "anna"), .completed(task: "sector 3", node: "bo"),
            .completed(task: "background 3", node: "cleo"), .failed(task: "sector 4", reason: "lost"),
        ]
        let status = JobStatus(
            scheduled: 6, running: 0, completed: 5, failed: 1, retries: 0, nodes: [], elapsed: .zero)
        for (number, kind) in kinds.enumerated() {
            let event = JobEvent(number: number, time: .zero, kind: kind)
            shares.count(EventBatch(events: [event], next: number + 1, status: status))
        }
        #expect(shares.list.map(\.node) == ["anna", "bo"] && shares.list.map(\.sectors) == [1, 2])
    }

    // MARK: - Jobs that no node has answered for

    @Test func `the first three jobs that may go on are named`() {
        var jobs = UnansweredJobs()
        #expect(jobs.isEmpty && jobs.lines.isEmpty)
        for number in 1...5 { jobs.begin(JobID(rawValue: UInt64(number))) }
        jobs.end(JobID(rawValue: 2))
        #expect(!jobs.isEmpty)
        #expect(
            jobs.lines == [
                "the node has not confirmed that the jobs ended in time. What may go on can be cancelled later:",
                "  skynode jobs cancel \(JobID(rawValue: 1))", "  skynode jobs cancel \(JobID(rawValue: 3))",
                "  skynode jobs cancel \(JobID(rawValue: 4))", "  and 1 more, which skynode jobs lists",
            ])
    }

    @Test func `the advice has the connection options of the node with the jobs`() {
        var jobs = UnansweredJobs(connection: ["--node", "dome:7420", "--cluster-key", "my key"])
        jobs.begin(JobID(rawValue: 1))
        jobs.submissions = 1
        #expect(
            jobs.lines.dropFirst() == [
                "  skynode jobs cancel \(JobID(rawValue: 1)) --node dome:7420 --cluster-key 'my key'",
                "the node has not said whether it took the job in time; "
                    + "skynode jobs --node dome:7420 --cluster-key 'my key' lists those that it has",
            ])
    }

    @Test func `the message says why a job was not cancelled, and mentions an unanswered submission`() {
        var jobs = UnansweredJobs()
        jobs.begin(JobID(rawValue: 1))
        jobs.reason = "no room\u{7}"
        #expect(
            jobs.lines.first
                == "the node has not confirmed that the job ended: no room?. What may go on can be cancelled later:")
        jobs.end(JobID(rawValue: 1))
        (jobs.reason, jobs.submissions) = (nil, 1)
        #expect(
            jobs.lines == [
                "the node has not said whether it took the job in time; skynode jobs lists those that it has"
            ])
    }

    // MARK: - Jobs in a row

    @Test func `the times of jobs in a row are reported by nearest ranks`() {
        let times = JobTimes((1...200).reversed().map { .milliseconds($0) })
        #expect(times.line.jobs == 200 && times.line.p50 == 0.1 && times.line.p99 == 0.198)
        #expect(times.line.longest == 0.2)
        #expect(
            times.lines == ["200 jobs: half took at most 100.00 ms, 99 % at most 198.00 ms, the longest 200.00 ms"])
        let one = JobTimes([.seconds(2)]).line
        #expect(one.p50 == 2 && one.p99 == 2 && one.longest == 2)
        #expect(JobTimes([]).line.longest == 0)
    }
}
