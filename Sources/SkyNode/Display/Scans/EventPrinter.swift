import Base
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// Reports a job's events as they come. People get the retries and failures (and every task, or only failures, if they want that);
/// programs get every event, as one object a line.
struct EventPrinter: Sendable {
    let format: OutputFormat
    let isVerbose: Bool
    let display: ProgressDisplay
    /// What the job is about, where there are several: the image's path.
    var subject: String?
    /// Whether people are told only of failures.
    var printsFailuresOnly = false
    /// The pause that was last reported to programs. All copies share it.
    private let pause = NIOLockedValueBox<String?>(nil)

    init(
        format: OutputFormat, isVerbose: Bool, display: ProgressDisplay, subject: String? = nil,
        printsFailuresOnly: Bool = false
    ) {
        self.printsFailuresOnly = printsFailuresOnly
        self.format = format
        self.isVerbose = isVerbose
        self.display = display
        self.subject = subject
    }

    func print(_ batch: EventBatch) {
        if format == .json {
            for line in lines(batch) { Console.output(line) }
        } else {
            for event in batch.events { line(event.kind).map { display.say($0) } }
        }
        display.show(batch.status, of: subject, hasEnded: end(in: batch) != nil)
    }

    /// How the job has ended, if it has.
    private func end(in batch: EventBatch) -> JobReport.State? {
        for case .ended(let report) in batch.events.lazy.map(\.kind) { return report.state }
        return nil
    }

    /// What programs get. Where a job goes on again, it did so before what is told of it: its end comes last. One that was cancelled
    /// did not go on.
    func lines(_ batch: EventBatch) -> [String] {
        var lines = batch.events.compactMap { try? JSONLine.encode(EventLine($0, subject: subject)) }
        if let line = pauseLine(batch.status), end(in: batch) != .cancelled {
            lines.insert(line, at: batch.status.paused == nil ? 0 : lines.count)
        }
        return lines
    }

    /// A pause that has begun or ended, for programs. It is not an event of the job: it is not stored, and nobody who follows later
    /// hears of it.
    private func pauseLine(_ status: JobStatus) -> String? {
        let isChange = pause.withLockedValue { pause in
            defer { pause = status.paused }
            return pause != status.paused
        }
        return isChange ? try? JSONLine.encode(PauseLine(status, subject: subject)) : nil
    }

    /// Which image it is about, where there are several.
    private var ofSubject: String { subject.map { " of \(PrintableText.of($0))" } ?? "" }

    private func line(_ kind: JobEvent.Kind) -> String? {
        switch kind {
        case .special, .completed, .retrying:
            return printsFailuresOnly ? nil : unfailed(kind)
        case .failed(let task, let reason):
            return "Failed: \(PrintableText.of(task))\(ofSubject): \(PrintableText.of(reason))"
        case .ended:
            return nil
        }
    }

    /// The line for an event that is not a failure, or not yet.
    private func unfailed(_ kind: JobEvent.Kind) -> String? {
        switch kind {
        case .special(let event):
            return event.words.map { (subject.map { PrintableText.of($0) + ": " } ?? "") + PrintableText.of($0) }
        case .completed(let task, let node):
            let by = node.isEmpty ? "from an earlier result" : "by \(PrintableText.of(node))"
            return isVerbose ? "Completed: \(PrintableText.of(task)) \(by)" : nil
        case .retrying(let task, let node, let reason, let delay):
            let pause = delay > .zero ? ", trying again in \(DurationText.seconds(delay)) s" : ", trying again"
            return "Retrying: \(PrintableText.of(task))\(ofSubject) failed on \(PrintableText.of(node)) "
                + "(\(PrintableText.of(reason)))\(pause)"
        case .failed, .ended:
            return nil
        }
    }
}

/// One event as a program reads it.
struct EventLine: Encodable {
    private var common: CommonFields
    /// The fields that only events of one kind of job have.
    private var special: (any Encodable)?

    init(_ event: JobEvent, subject: String?) {
        common = CommonFields(event, subject: subject)
        if case .special(let event) = event.kind { special = event.fields }
    }

    func encode(to encoder: any Encoder) throws {
        try special?.encode(to: encoder)
        try common.encode(to: encoder)
    }
}

/// The fields of events of all kinds of jobs.
private struct CommonFields: Encodable {
    var event: String
    var number: Int
    var seconds: Double
    var subject: String?
    var task: String?
    var node: String?
    var reason: String?
    var delaySeconds: Double?
    var state: String?
    var scheduled: Int?
    var completed: Int?
    var failed: Int?
    var retried: Int?
    var nodes: [String: Int]?
    var cached: Int?

    init(_ event: JobEvent, subject: String?) {
        number = event.number
        seconds = event.time.inSeconds
        self.subject = subject
        switch event.kind {
        case .special(let event):
            self.event = event.name
        case .completed(let task, let node):
            self.event = "completed"
            self.task = task
            self.node = node.isEmpty ? nil : node
        case .retrying(let task, let node, let reason, let delay):
            self.event = "retrying"
            self.task = task
            self.node = node
            self.reason = reason
            delaySeconds = delay.inSeconds
        case .failed(let task, let reason):
            self.event = "failed"
            self.task = task
            self.reason = reason
        case .ended(let report):
            self.event = "ended"
            state = report.state.rawValue
            reason = report.reason
            scheduled = report.scheduled
            completed = report.completed
            failed = report.failed
            retried = report.retries
            cached = report.cached
            // Two nodes may share a name; their work is added up here and told apart in `skynode nodes`.
            nodes = Dictionary(report.nodes.map { ($0.name, $0.completed) }, uniquingKeysWith: +)
        }
    }
}

/// A line that says that a job cannot go on, or can again, as a program reads it.
struct PauseLine: Encodable {
    /// paused or resumed.
    var event: String
    var seconds: Double
    var subject: String?
    /// Why the job is paused; only where it is.
    var reason: String?

    init(_ status: JobStatus, subject: String?) {
        event = status.paused == nil ? "resumed" : "paused"
        seconds = status.elapsed.inSeconds
        self.subject = subject
        reason = status.paused
    }
}
