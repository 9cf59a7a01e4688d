import Base
import NIOConcurrencyHelpers
import Sky
import SkyCore
import SkyJobs
import Transport

/// Runs the jobs of `skynode scan`, a few images at a time, and writes the results of each image as soon as it is done. It carries
/// out the actions of a `BatchProgress`.
struct ScanBatch: Sendable {
    let plan: ScanPlan
    let output: PreparedOutput
    /// The first job, which may have begun already; `nil` where it is the reference's.
    let firstJob: FirstJob?
    let coordinator: CoordinatorConnection
    let interrupts: Interrupts
    let display: ProgressDisplay
    let sender: InputSender
    let format: OutputFormat
    let detail: ScanDetail
    /// Whether to write the finished part of a scan that was cancelled or given up.
    let keepsPartial: Bool
    /// Whether pictures are requested.
    let draws: Bool
    /// Whether to print where the time went.
    var printsTiming = false
    /// How long the command took to find its node.
    var start = Duration.zero

    /// The data of the images that is kept until all are scanned, by the places of the images among all.
    private struct Findings {
        var reference: EpochComparer.Scanned?
        var sections: [Int: CatalogueTable.Section] = [:]
        var compared: [Int: EpochComparer.Compared] = [:]
        var timings: [ScanTiming] = []
    }

    /// Runs all jobs, and returns the worst status of all images.
    func run() async throws -> ExitStatus {
        let rules = ImageProgress.Rules(
            plan: plan, format: format, detail: detail, keepsPartial: keepsPartial, printsTiming: printsTiming)
        // Images count as soon as they are written: the command may leave while they are compared.
        let written = NIOLockedValueBox(ScanTotals())
        interrupts.beforeLeaving { [plan, output] in
            output.removeFolderIfUnused()
            return rules.isBatch ? written.withLockedValue { $0 }.stopLine(plan, keepsPartial: false) : nil
        }
        return try await withThrowingTaskGroup(of: ImageScanner.Result.self) { group in
            var progress = BatchProgress(rules)
            var findings = Findings()
            var actions = progress.handle(.begun, isInterrupted: false, at: .now)[...]
            while true {
                let event: BatchProgress.Event?
                switch actions.popFirst() {
                case .scan(let item, let place):
                    let scanner = ImageScanner(
                        rules: rules, coordinator: coordinator, interrupts: interrupts, display: display, draws: draws,
                        written: written, firstJob: firstJob, comparer: comparer, reference: findings.reference,
                        start: rules.isBatch || place > 0 ? nil : start)
                    group.addTask { try await scanner.scan(item, place: place) }
                    event = nil
                case .finish(let status):
                    printTiming(findings.timings)
                    return status
                case .abandon(let error): throw error
                case .some(let action): event = try await carryOut(action, &findings)
                // There is nothing to do until an image has ended.
                case nil: event = await next(&group, &findings)
                }
                if let event {
                    actions += progress.handle(event, isInterrupted: interrupts.wasInterrupted, at: .now)
                }
            }
        }
    }

    private var comparer: EpochComparer {
        EpochComparer(
            plan: plan, coordinator: coordinator, interrupts: interrupts, display: display, sender: sender,
            format: format, detail: detail)
    }

    private func next(
        _ group: inout ThrowingTaskGroup<ImageScanner.Result, any Error>, _ findings: inout Findings
    ) async -> BatchProgress.Event {
        do {
            guard let result = try await group.next() else { return .failed(CancellationError()) }
            findings.sections[result.outcome.place] = result.section
            findings.compared[result.outcome.place] = result.compared
            if let timing = result.timing { findings.timings.append(timing) }
            return .imageEnded(result.outcome)
        } catch {
            return .failed(error)
        }
    }

    /// - Returns: the event that results from the action; `nil` where there is none.
    private func carryOut(
        _ action: BatchProgress.Action, _ findings: inout Findings
    ) async throws -> BatchProgress.Event? {
        switch action {
        case .scanReference(let item):
            findings.reference = try await comparer.scanned(item)
            return .referenceScanned(findings.reference?.catalogue.info)
        case .countSlots:
            let nodes = try await coordinator.fetch { try await $0.nodes() }
            return .slotsCounted(nodes.reduce(0) { $0 + ($1.member.isDraining ? 0 : $1.status?.slots ?? 0) })
        case .say(let line): display.say(line)
        case .fail(let message): display.fail(message)
        case .sayStop(let totals): display.say("skynode: \(totals.stopLine(plan, keepsPartial: keepsPartial))")
        case .merge(let places, let isPartial):
            let (status, files) = writeMerged(places.compactMap { findings.sections[$0] }, isPartial: isPartial)
            return .merged(status, files: files)
        case .writeChanges(let places):
            let compared = places.compactMap { findings.compared[$0] }
            return .changesWritten(try await EpochFiles(comparer: comparer, compared: compared).write())
        case .close(let totals, let duration, let merged):
            let style = plan.output.isStandardOutput ? Console.errorStyle : Console.outputStyle
            print([totals.line(duration, plan.output, merged: merged, style: style)])
        case .scan, .finish, .abandon: break
        }
        return nil
    }

    /// - Returns: the status, and the paths of the files that were written.
    private func writeMerged(
        _ sections: [CatalogueTable.Section], isPartial: Bool
    ) -> (status: ExitStatus, files: [String]) {
        var files: [String] = []
        let table = CatalogueTable(
            sections, configuration: plan.configuration, namesImages: plan.items.count > 1 || sections.count > 1)
        do {
            if case .standardOutput(let format) = plan.output {
                // A partial catalogue on standard output would look complete, so it is not written there.
                if !isPartial { Console.output(bytes: try table.bytes(format)) }
                return (.done, [])
            }
            let merged = plan.output.merged(besides: plan.stems, isPartial: isPartial)
            try interrupts.whileWriting { () throws(SkyError) in
                let staged = StagedFiles(overwrites: plan.overwrites)
                for (path, format) in merged { try table.write(format, to: path, among: staged) }
                try staged.place()
            }
            files = merged.map(\.path)
            if detail > .line { print(files.map { "wrote \(PrintableText.of($0))" }) }
            return (.done, files)
        } catch {
            display.fail(PrintableText.of(error.message))
            return (.usage, files)
        }
    }

    /// Prints where the time went: of one image, or of all together.
    private func printTiming(_ timings: [ScanTiming]) {
        guard printsTiming, let first = timings.first, timings.count > 1 || detail < .everything else { return }
        var sum = timings.dropFirst().reduce(into: first) { $0.add($1) }
        if plan.items.count > 1 { sum.add(start: start) }
        print(TimingLines(sum).lines)
    }

    private func print(_ lines: [String]) {
        if format == .text { display.output(lines, plan.output) }
    }
}
