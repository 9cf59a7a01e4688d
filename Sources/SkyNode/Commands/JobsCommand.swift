import ArgumentParser
import SkyCore
import Transport

/// `skynode jobs`: what a node's coordinator has been given to do.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List, follow, cancel and fetch jobs.",
        discussion: """
            Jobs belong to the node they were submitted to and are kept there, with their results, until they are deleted \
            or old. Of a job's id the first digits are enough.
            """,
        subcommands: [
            JobsListCommand.self, JobsShowCommand.self, JobsWatchCommand.self, JobsResultsCommand.self,
            JobsCancelCommand.self, JobsDeleteCommand.self,
        ], defaultSubcommand: JobsListCommand.self)
}

/// Which node is asked, and how it is shown.
struct JobsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node to ask. Default: the daemon of this machine, else one found by multicast.", valueName: "host:port"
        ))
    var node: String?

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    func with<Result: Sendable>(_ body: (Coordinator) async throws -> Result) async throws -> Result {
        try await ClusterSession.client(node: node, network: network, log: log) { coordinator in
            do {
                return try await body(coordinator)
            } catch let error as RemoteError {
                throw CommandFailure(.usage, PrintableText.of(error.message))
            }
        }
    }

    /// The one job whose id begins so.
    ///
    /// - Throws: `CommandFailure` where there is none, or more.
    func find(_ prefix: String, _ coordinator: Coordinator) async throws -> JobListing {
        let found = try await coordinator.list().filter { $0.id.description.hasPrefix(prefix.lowercased()) }
        guard let job = found.first, !prefix.isEmpty else {
            throw CommandFailure(.usage, "there is no job \(PrintableText.of(prefix)); skynode jobs lists them")
        }
        guard found.count == 1 else {
            throw CommandFailure(
                .usage, "\(found.count) jobs begin with \(PrintableText.of(prefix)); write more of the id")
        }
        return job
    }
}

struct JobsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List all jobs, the oldest first.")

    @OptionGroup var options: JobsOptions

    func run() async throws {
        try await options.with { coordinator in
            let jobs = try await coordinator.list()
            switch options.format {
            case .text: for line in JobTable(jobs).lines { Console.output(line) }
            case .json: for job in jobs { Console.output(try JSONLine.encode(JobLine(job))) }
            }
        }
    }
}

struct JobsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one job: where it stands, who works on it, what has failed.")

    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @OptionGroup var options: JobsOptions

    func run() async throws {
        try await options.with { coordinator in
            let job = try await options.find(job, coordinator)
            let details = try await coordinator.details(job.id)
            switch options.format {
            case .text: for line in JobDetailLines(job, details).lines { Console.output(line) }
            case .json:
                Console.output(try JSONLine.encode(JobLine(job, details)))
            }
        }
    }
}

struct JobsWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a job to its end. Ctrl-C ends the following, not the job.")

    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @Flag(name: .shortAndLong, help: "Tell every completed task.")
    var verbose = false

    @OptionGroup var options: JobsOptions

    func run() async throws {
        let report = try await options.with { coordinator in
            let job = try await options.find(job, coordinator)
            let display = ProgressDisplay(isQuiet: options.format == .json)
            let printer = EventPrinter(format: options.format, isVerbose: verbose, display: display)
            defer { display.finish() }
            return try await JobWatch(coordinator: coordinator)
                .attach(job.id, interrupts: nil) { printer.tell($0) }
        }
        if options.format == .text { for line in JobSummary.lines(report, of: "tasks") { Console.output(line) } }
        let status = JobSummary.status(report)
        if status != .done { throw CommandFailure(status, report.reason.map { PrintableText.of($0) }) }
    }
}

struct JobsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job everywhere; what is done of it is kept.")

    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @OptionGroup var options: JobsOptions

    func run() async throws {
        try await options.with { coordinator in
            try await coordinator.cancel(try await options.find(job, coordinator).id)
        }
    }
}

struct JobsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Forget a job and its results; one that goes on is cancelled first.")

    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @OptionGroup var options: JobsOptions

    func run() async throws {
        try await options.with { coordinator in
            try await coordinator.delete(try await options.find(job, coordinator).id)
        }
    }
}

struct JobsResultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Write the files of a scan that has ended, as skynode scan does.",
        discussion: "Of a job that was cancelled or failed the catalogue holds the sectors that are done.")

    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @Option(name: .shortAndLong, help: ArgumentHelp("Folder to write to; made if missing.", valueName: "folder"))
    var output = "."

    @OptionGroup var options: JobsOptions

    func run() async throws {
        try await options.with { coordinator in
            let job = try await options.find(job, coordinator)
            guard case .sky(let request) = try await coordinator.details(job.id).request.kind else {
                throw CommandFailure(.usage, "job \(job.id) is no scan: it has no results")
            }
            let results = ScanResults(coordinator: coordinator, job: job.id)
            let catalogue = try await results.catalogue()
            let preview = try await results.preview()
            try OutputFolder.prepare(output)
            let files = try ScanFiles(
                name: request.image.path, stem: output + "/" + ScanPlan.stem(request.image.path),
                configuration: request.configuration, catalogue: catalogue
            ).write(preview: preview)
            for file in files { Console.output("wrote \(PrintableText.of(file))") }
        }
    }
}
