import Base
import Sky
import SkyCore
import Transport

/// Scans an image once more with artificial stars in it, and writes how many of them were found and how well.
struct InjectionTest: Sendable {
    let coordinator: CoordinatorConnection
    let sender: InputSender
    let interrupts: Interrupts
    let display: ProgressDisplay
    let format: OutputFormat
    let detail: ScanDetail
    /// Whether to draw a plot.
    let draws: Bool
    /// Whether files that the program has not made are replaced.
    let overwrites: Bool

    /// - Parameters:
    ///   - item: the image, with the request that resulted in `plain`.
    ///   - injections: the stars of each round, as the `InjectionDemand` gives them for this catalogue.
    ///   - plain: the image's catalogue without the stars.
    func run(_ item: ScanItem, _ injections: [Injection], plain: Catalogue) async throws -> ExitStatus {
        guard let request = item.request.kind.scan else { return .done }
        var rounds: [(injection: Injection, catalogue: Catalogue)] = []
        var status = ExitStatus.done
        for (index, injection) in injections.enumerated() {
            let (catalogue, ended) = try await scan(
                item, injection, like: plain,
                name: injections.count > 1 ? "injected stars \(index + 1)/\(injections.count)" : "injected stars")
            status = max(status, ended)
            guard let catalogue else { return status }
            rounds.append((injection, catalogue))
        }
        let zeroPoint = request.configuration.completed(by: plain.keywords).zeroPoint ?? 0
        let report = InjectionReport(rounds, plain: plain, zeroPoint: zeroPoint)
        do {
            let files = try write(report, item)
            let lines = InjectionLines(report, rounds: injections, name: item.name, files: files)
            switch (format, detail) {
            case (.json, _): display.output(try lines.json())
            case (.text, .errors): break
            case (.text, .line): display.output([lines.line])
            case (.text, _): display.output(lines.text)
            }
        } catch let error as SkyError {
            return say(error, item)
        }
        return status
    }

    /// Runs one scan with stars. The catalogue is `nil` where the scan does not end as done.
    private func scan(
        _ item: ScanItem, _ injection: Injection, like plain: Catalogue, name: String
    ) async throws -> (catalogue: Catalogue?, status: ExitStatus) {
        let printer = EventPrinter(
            format: format, isVerbose: detail == .everything, display: display, subject: "\(item.name) with \(name)",
            printsFailuresOnly: detail < .summary)
        func failed(_ reason: String?, _ status: ExitStatus) -> (catalogue: Catalogue?, status: ExitStatus) {
            let reason = reason.map { PrintableText.of($0) } ?? "cancelled"
            display.fail("\(PrintableText.of(item.name)): nothing is known of the injected stars: \(reason)")
            return (nil, status)
        }
        let (job, outcome): (JobID, JobReport)
        do {
            (job, outcome) = try await JobWatch(coordinator: coordinator, sender: sender)
                .run(Submission(Self.job(item, injection, like: plain)), interrupts: interrupts) { printer.print($0) }
        } catch let failure as CommandFailure where failure.refusal != nil {
            return failed(failure.message, failure.status)
        }
        let status = JobSummary.status(outcome)
        guard outcome.state == .done else { return failed(outcome.reason, status) }
        return (try await ScanFetcher(coordinator: coordinator, job: job).catalogue(), status)
    }

    /// The same scan with stars. The filter is the one that was used without them, not one fitted to them.
    private static func job(_ item: ScanItem, _ injection: Injection, like plain: Catalogue) -> JobRequest {
        var job = item.request
        guard var request = job.kind.scan else { return job }
        request.image.injection = injection
        request.configuration.filter = plain.filter
        (request.pictureSide, request.failSector, request.checkImages) = (nil, nil, nil)
        request.purpose = nil
        job.kind = .sky(request)
        return job
    }

    private func write(_ report: InjectionReport, _ item: ScanItem) throws(SkyError) -> [String] {
        let files = StagedFiles(overwrites: overwrites)
        var paths = [try files.write(report.csv(), as: .injection, of: item.stem)]
        if draws {
            paths.append(
                try files.write(InjectionPlot(report, title: item.name).svg, as: .injectionPlot, of: item.stem))
        }
        try files.place()
        return paths
    }

    private func say(_ error: SkyError, _ item: ScanItem) -> ExitStatus {
        display.fail("\(PrintableText.of(item.name)): \(PrintableText.of(error.message))")
        return .usage
    }
}
