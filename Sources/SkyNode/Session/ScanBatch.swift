import SkyCore
import Transport

/// Runs the jobs of `skynode scan`, a few images at a time, and writes what comes of each as soon as it is done.
struct ScanBatch: Sendable {
    let plan: ScanPlan
    let coordinator: Coordinator
    let interrupts: Interrupts
    let display: ProgressDisplay
    let format: OutputFormat
    let isVerbose: Bool
    /// Whether to write what is done of a scan that was cancelled or given up.
    var keepsPartial = false

    /// Images under way at once: enough to keep every slot busy over the ends of jobs, few enough to hold their
    /// catalogues in memory.
    static let width = 4

    /// The worst status of all images.
    func run() async throws -> ExitStatus {
        try await withThrowingTaskGroup(of: ExitStatus.self) { group in
            var worst = ExitStatus.done
            var waiting = plan.items[...]
            for _ in 0..<ScanBatch.width {
                if let item = waiting.popFirst() { group.addTask { try await scan(item) } }
            }
            while let status = try await group.next() {
                worst = ScanBatch.worse(worst, status)
                if !interrupts.wasInterrupted, let item = waiting.popFirst() {
                    group.addTask { try await scan(item) }
                }
            }
            return interrupts.wasInterrupted ? .cancelled : worst
        }
    }

    private static func worse(_ left: ExitStatus, _ right: ExitStatus) -> ExitStatus {
        // Being cancelled outweighs bad input, which outweighs a gap.
        left.rawValue >= right.rawValue ? left : right
    }

    private func scan(_ item: ScanPlan.Item) async throws -> ExitStatus {
        let printer = EventPrinter(
            format: format, isVerbose: isVerbose, display: display, subject: plan.items.count > 1 ? item.name : nil)
        let shares = SectorShares()
        let (job, report) = try await JobWatch(coordinator: coordinator)
            .run(Submission(item.request), interrupts: interrupts) { batch in
                shares.count(batch)
                printer.tell(batch)
            }
        let status = JobSummary.status(report)
        if report.state != .done {
            let keeps = keepsPartial && !shares.list.isEmpty
            if let reason = report.reason {
                display.say("skynode: \(PrintableText.of(reason))")
            } else if report.state == .cancelled {
                let rest = keeps ? "what is done is kept" : "nothing was written"
                display.say("skynode: \(PrintableText.of(item.name)): cancelled; \(rest)")
            }
            if !keeps { return status }
        }
        let results = ScanResults(coordinator: coordinator, job: job)
        let catalogue = try await results.catalogue()
        let preview = try await results.preview()
        let files: [String]
        do {
            files = try ScanFiles(
                name: item.name, stem: item.stem, configuration: plan.configuration, catalogue: catalogue
            ).write(preview: preview)
        } catch {
            // One image's results that cannot be written are no reason to give up the others.
            display.say("skynode: \(PrintableText.of(error.message))")
            return .usage
        }
        if format == .text {
            display.clear()
            for line in ScanSummary(
                item: item, plan: plan, report: report, shares: shares.list, catalogue: catalogue, files: files
            ).lines { Console.output(line) }
        }
        return status
    }
}
