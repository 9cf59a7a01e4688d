import NIOCore

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode
@testable import Transport

/// What a command shows of a coordinator's answers. The coordinator may be any program that speaks the protocol.
enum AnswerTarget: FuzzTarget {
    static let name = "answers"
    static let limit = RunLimit.brief

    static func run(_ input: FuzzInput) {
        var input = input
        switch input.byte() % 9 {
        case 0: events(&input)
        case 1: jobs(&input)
        case 2: explanation(&input)
        case 3: nodes(&input)
        case 4: membership(&input)
        case 5: catalogue(&input)
        case 6: storage(&input)
        case 7: sectors(&input)
        default: injection(&input)
        }
    }

    private static let share = NodeShare(name: "anna", completed: 3, running: 1)
    private static let status = JobStatus(
        scheduled: 9, running: 1, completed: 3, failed: 1, retries: 2, nodes: [share], elapsed: .seconds(3), cached: 1,
        paused: nil)
    private static var report: JobReport {
        var work = NodeWork(name: "anna")
        (work.tasks, work.duration, work.slots) = (2, .seconds(2), 2)
        work.stages = StageTimes(["read": .seconds(1)])
        return JobReport(
            state: .failed, reason: "no node", scheduled: 9, completed: 3, failed: 1, retries: 2,
            duration: .seconds(3),
            nodes: [share], cached: 1, work: [work])
    }
    private static let listing = JobListing(
        id: JobID(rawValue: 7), title: "/data/m13.fits", state: .done, priority: 1, reason: "it is done",
        status: status,
        submitted: 1_800_000_000_000)
    private static let member = Member(
        node: NodeID(rawValue: 2), name: "berta", version: "0.1.0", address: NodeAddress("anna:7420"),
        since: .seconds(3))

    /// An answer as it comes through the door that all have.
    private static func answer<Value: Codable>(_ sample: Value, _ input: inout FuzzInput) -> Value? {
        guard let value = input.hostile(sample) else { return nil }
        do {
            try (value as? any ValidatedMessage)?.validate()
        } catch {
            return nil
        }
        return value
    }

    private static func isShown(_ lines: [String]) {
        for line in lines { require(isOneLine(line), "a line is one line: \(line)") }
    }

    private static func isWritten(_ value: some Encodable) {
        require((try? JSONLine.encode(value)) != nil, "a program can read it: \(value)")
    }

    private static func events(_ input: inout FuzzInput) {
        let kinds: [JobEvent.Kind] = [
            .special(ScanEvent.planned(HonestRequests.info, sectors: 4)), .completed(task: "sector 1", node: "anna"),
            .retrying(task: "sector 1", node: "anna", reason: "died", delay: .seconds(1)),
            .failed(task: "sector 1", reason: "died"), .special(ScanEvent.sectorDone(sector: 1, sources: 5)),
            .ended(report),
        ]
        let sample = EventBatch(
            events: [JobEvent(number: 3, time: .seconds(1), kind: input.choice(of: kinds))], next: 4, status: status)
        var rate = ProgressRate()
        var phases = PhaseTimes()
        var laps = ScanLaps(from: .now)
        laps.end(.job, at: .now + .seconds(2))
        for _ in 0..<3 {
            guard let batch = answer(sample, &input) else { return }
            rate.note(batch.status)
            for event in batch.events {
                phases.add(event)
                isWritten(EventLine(event, subject: "/data/m13.fits"))
                isWritten(PauseLine(batch.status, subject: "/data/m13.fits"))
                guard case .ended(let report) = event.kind else { continue }
                isShown(JobSummary.lines(report, of: "tasks"))
                _ = (JobSummary.facts(report), JobSummary.status(report))
                var timing = ScanTiming(laps, phases, report)
                timing.add(ScanTiming(laps, phases, report))
                isShown(TimingLines(timing, of: "/data/m13.fits").lines)
                isWritten(TimingLine(timing, subject: "/data/m13.fits"))
                require(!timing.forReport.steps.isEmpty, "steps")
            }
            let lines = ProgressLines(columns: 80, rows: 24, rate: rate.tasksPerSecond)
            isShown(lines.lines(batch.status))
            require(isOneLine(lines.plainLine(batch.status)), "a line is one line")
        }
    }

    private static func jobs(_ input: inout FuzzInput) {
        guard let jobs = answer([listing, listing], &input) else { return }
        let named = jobs.map { (node: String?.some("anna"), job: $0) }
        isShown(JobTable(named, namesNodes: input.bool()).lines)
        isShown(JobTable.pauses(named))
        let request = HonestRequests.job(&input)
        let sample = JobDetails(
            request: request, failures: [.init(task: "sector 1", reason: "died")], hiddenFailures: 2)
        guard let job = jobs.first, let details = answer(sample, &input) else { return }
        isShown(JobDetailLines(job, details).lines)
        isWritten(JobLine(job, details))
    }

    private static func explanation(_ input: inout FuzzInput) {
        let sample = JobExplanation(
            reasons: ["1 task waits"], requirements: [.init(name: "lend slots", nodes: 2)],
            tasks: [.init(task: "sector 1", node: "anna", runningFor: .seconds(1), attempts: 2, lastEvent: "sent")])
        guard let explanation = answer(sample, &input), let job = answer(listing, &input) else { return }
        isShown(JobExplanationLines(job, explanation).lines)
        isWritten(ExplanationLine(job, explanation))
    }

    private static func nodes(_ input: inout FuzzInput) {
        let status = NodeStatus(
            node: NodeID(rawValue: 2), name: "berta", version: "0.1.0", slots: 4, running: 1, completed: 3, failed: 1,
            uptime: .seconds(3), load: 0.5)
        let sample = NodeReport(
            member: member, status: status, isAnswering: false, age: .seconds(3), roundTrip: .milliseconds(1),
            clockOffset: .milliseconds(1), speed: 1.1)
        guard let reports = answer([sample, sample], &input) else { return }
        isShown(NodeTable(reports).lines)
        for report in reports {
            isWritten(NodeLine(report))
            _ = report.status?.isSane
        }
    }

    private static func membership(_ input: inout FuzzInput) {
        let events: [MembershipEvent] = [
            .joined(member), .suspect(member.node), .back(member), .lost(member.node), .left(member.node),
            .draining(member.node, true),
        ]
        let entry = MembershipLog.Entry(number: 3, time: 1_800_000_000_000, event: input.choice(of: events))
        let sample = MembershipPage(
            members: [member], entries: [entry], next: 4, time: 1_800_000_000_000, uptime: .seconds(9))
        var lines = MembershipLines()
        for _ in 0..<3 {
            guard let page = answer(sample, &input) else { return }
            for line in lines.lines(page) {
                isShown([line.text])
                isWritten(line)
            }
        }
    }

    private static func catalogue(_ input: inout FuzzInput) {
        let sources = (0..<3).map { HonestResults.source(Double(20 + 5 * $0), 30, 0) }
        let sample = CataloguePage(
            info: HonestRequests.info, sources: sources, total: 3, truncated: 1, filter: .gaussian(fwhm: 2.5),
            injected: nil)
        guard let page = answer(sample, &input) else { return }
        let catalogue = Catalogue(
            info: page.info, sources: page.sources, truncated: page.truncated, filter: page.filter,
            injected: page.injected)
        CatalogueUse.write(catalogue, configuration: HonestRequests.configuration(), path: "/data/m13.fits")
    }

    private static func storage(_ input: inout FuzzInput) {
        let sample = JournalUsage(
            bytes: 1 << 20, limit: 1 << 30, jobs: 3, cachedResults: 4, cacheBytes: 5000, cacheLimit: 1 << 28, hits: 3,
            misses: 4, evictions: 1)
        guard let usage = answer(sample, &input) else { return }
        isShown(StorageLines(usage).lines)
    }

    private static func sectors(_ input: inout FuzzInput) {
        let sample = [
            SectorRun(sector: 0, node: "anna", duration: .seconds(1), sources: 4),
            SectorRun(sector: 1, node: "berta", duration: .seconds(2), sources: 5),
        ]
        guard let runs = answer(sample, &input) else { return }
        let catalogue = Catalogue(merging: [], info: HonestRequests.info)
        let table = CatalogueTable(
            [.init(image: "/data/m13.fits", sources: [])], configuration: HonestRequests.configuration())
        require(!ScanReport(catalogue, table: table, runs: runs).html(picture: nil, map: nil).isEmpty, "a page")
        // A picture takes a megabyte, so there is one only now and then.
        guard input.byte() == 77,
            let grid = try? SectorGrid(info: HonestRequests.info, configuration: HonestRequests.configuration())
        else { return }
        _ = SectorMap(grid, runs: runs)
    }

    private static func injection(_ input: inout FuzzInput) {
        let sources = (0..<3).map { HonestResults.source(Double(20 + 5 * $0), 30, 0) }
        var sample = CataloguePage(
            info: HonestRequests.info, sources: sources, total: 3, truncated: 1, filter: .pyramid, injected: nil)
        sample.injected = [
            InjectedStar(number: 1, x: 20.5, y: 30, flux: 50), InjectedStar(number: 2, x: 70, y: 9, flux: 500),
        ]
        guard let page = answer(sample, &input) else { return }
        let catalogue = Catalogue(
            info: page.info, sources: page.sources, truncated: page.truncated, filter: page.filter,
            injected: page.injected)
        let injection = Injection(count: 2, faintest: 10, brightest: 1000, fwhm: 2.5)
        let report = InjectionReport([(injection, catalogue)], plain: catalogue, zeroPoint: 25)
        let lines = InjectionLines(report, rounds: [injection], name: "/data/m13.fits", files: [])
        isShown(lines.text)
        require((try? lines.json()) != nil, "a program can read it")
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for kind in UInt8(0)..<9 {
            seeds.append([kind])
            seeds.append([kind, 1, 0, 1, 5])
            seeds.append([kind, 3, 0, 3, 9, 1, 0, 4, 7, 1, 1, 9, 9, 8])
        }
        for event in UInt8(0)..<6 {
            seeds.append([0, event, 0, 0, 0])
            seeds.append([4, event, 0, 0, 0])
        }
        return seeds
    }
}
