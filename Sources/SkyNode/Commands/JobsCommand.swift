import ArgumentParser
import Base
import Foundation
import Sky
import SkyCore
import Transport

/// `skynode jobs`: what a node's coordinator has been given to do.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List, follow, cancel and fetch jobs.",
        discussion: """
            Jobs belong to the node they were submitted to and are kept there, with their results, until they are deleted \
            or old. Where there are three nodes or more, two others keep copies and take the jobs over when that node is \
            lost. A job is called by its id, by the first digits of it, or @last, the newest \
            (jobs results: the newest scan).

            EXAMPLES:
              skynode jobs                        all jobs, the newest last
              skynode jobs 7f3a                   one: where it stands, what has failed
              skynode jobs watch @last            follow the newest to its end
              skynode jobs results 7f3a -o out    write its files
              skynode jobs --state failed --limit 10
              skynode jobs delete --done --older 7d
            """,
        subcommands: [
            JobsListCommand.self, JobsShowCommand.self, JobsWhyCommand.self, JobsWatchCommand.self,
            JobsResultsCommand.self,
            JobsCancelCommand.self, JobsDeleteCommand.self, JobsStorageCommand.self, JobsUnprotectCommand.self,
            JobsAdoptCommand.self,
        ], defaultSubcommand: JobsListCommand.self)
}

/// Which job is meant, and which node is asked.
struct JobArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The job's id, its first digits, or @last for the newest (results: scan).", valueName: "job")
    )
    var job: String

    @OptionGroup var options: NodeOptions

    func with<Result: Sendable>(_ body: (Coordinator, JobListing) async throws -> Result) async throws -> Result {
        try await options.with { try await body($0, try await JobReference.find(job, at: $0)) }
    }

    /// As `with`, for work that goes on where the node is lost and comes back.
    func following<Result: Sendable>(
        patience: Duration = .zero, _ body: (CoordinatorConnection, JobListing) async throws -> Result
    ) async throws -> Result {
        try await options.following(patience: patience) {
            try await body($0, try await JobReference.find(job, at: $0.coordinator))
        }
    }
}

struct JobsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the jobs of a node, the newest last, or show one.",
        discussion: """
            With --all it lists those of every node of the cluster, names the nodes that do not answer, and the exit code is \
            1 where there are such. On a terminal, columns that do not fit are left out; --wide shows them all.
            """)

    @Argument(help: ArgumentHelp("Show this job only: its id, its first digits, or @last.", valueName: "job"))
    var job: String?

    @Flag(help: "The jobs of every node of the cluster; each line names the node that has the job.")
    var all = false

    @Option(help: ArgumentHelp("Only jobs in this state; repeat for more.", valueName: "state"))
    var state: [NamedArgument<JobState>] = []

    @Option(help: ArgumentHelp("Only so many, the newest.", valueName: "n"))
    var limit: Int?

    @Flag(help: "All columns, however wide the terminal is.")
    var wide = false

    @OptionGroup var options: NodeOptions

    func validate() throws {
        guard limit ?? 1 > 0 else { throw ValidationError("--limit takes a number from 1") }
        guard job == nil || (!all && state.isEmpty && limit == nil) else {
            throw ValidationError("name a job, or say which are listed, not both")
        }
    }

    func run() async throws {
        try await options.with { coordinator in
            if let job {
                let found = try await JobReference.find(job, at: coordinator)
                return try await JobsShowCommand.show(found, coordinator, options.format)
            }
            guard all else { return try print(try await coordinator.list().map { (nil, $0) }) }
            let answers = try await WholeCluster(coordinator: coordinator).ask { try await $0.list() }
            var jobs: [(node: String?, job: JobListing)] = []
            var silent: [String] = []
            for answer in answers {
                let name = PrintableText.of(answer.member.name)
                switch answer.result {
                case .success(let found): jobs += found.map { (name, $0) }
                case .failure(let silence): silent.append("\(name) (\(silence.reason))")
                }
            }
            try print(jobs.sorted { $0.job.submitted < $1.job.submitted })
            guard silent.isEmpty else {
                throw CommandFailure(
                    .partlyFailed, "the jobs of these nodes are not listed: \(silent.joined(separator: ", "))")
            }
        }
    }

    private func print(_ all: [(node: String?, job: JobListing)]) throws {
        let selection = JobSelection(states: Set(state.map(\.value)), limit: limit)
        let chosen = Set(selection.select(all.map(\.job), now: 0).map(\.id))
        let jobs = all.filter { chosen.contains($0.job.id) }
        switch options.format {
        case .text:
            let columns = Console.outputColumns
            let table = JobTable(
                jobs, namesNodes: self.all, width: wide ? nil : columns, now: columns == nil ? nil : .now,
                style: Console.outputStyle)
            for line in table.lines { Console.output(line) }
            for line in JobTable.pauses(jobs) { Console.error("skynode: \(line)") }
        case .json: for (node, job) in jobs { Console.output(try JSONLine.encode(JobLine(job, coordinator: node))) }
        }
    }
}

struct JobsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one job: where it stands, who works on it, what has failed.")

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.with { try await JobsShowCommand.show($1, $0, argument.options.format) }
    }

    static func show(_ job: JobListing, _ coordinator: Coordinator, _ format: OutputFormat) async throws {
        let details = try await coordinator.details(job.id)
        switch format {
        case .text:
            for line in JobDetailLines(job, details, style: Console.outputStyle).lines { Console.output(line) }
        case .json: Console.output(try JSONLine.encode(JobLine(job, details)))
        }
    }
}

struct JobsWhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Explain what a job waits for, and where its tasks are.")

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.with { coordinator, job in
            let explanation = try await coordinator.why(job.id)
            switch argument.options.format {
            case .text: for line in JobExplanationLines(job, explanation).lines { Console.output(line) }
            case .json: Console.output(try JSONLine.encode(ExplanationLine(job, explanation)))
            }
        }
    }
}

struct JobsWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a job to its end. Ctrl-C stops watching; the job continues.")

    @Flag(name: .shortAndLong, help: "Print every completed task.")
    var verbose = false

    @OptionGroup var argument: JobArgument

    func run() async throws {
        let report = try await argument.following(patience: Defaults.patience) { coordinator, job in
            let display = ProgressDisplay(argument.options.format)
            coordinator.speak(through: display)
            let printer = EventPrinter(format: argument.options.format, isVerbose: verbose, display: display)
            defer { display.finish() }
            return try await JobWatch(coordinator: coordinator)
                .attach(job.id, interrupts: nil) { printer.print($0) }
        }
        try JobSummary.print(report, argument.options.format)
    }
}

struct JobsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job everywhere; what is done of it is kept.")

    @OptionGroup var argument: JobArgument

    func validate() throws {
        guard argument.job != JobReference.last else { throw ValidationError(JobReference.namesNoVictim) }
    }

    func run() async throws {
        try await argument.with { coordinator, job in
            try await coordinator.cancel(job.id)
            guard argument.options.format == .text else { return }
            let before = job.state == nil ? nil : JobState(job).words
            Console.output(before.map { "job \(job.id) had ended before: \($0)" } ?? "cancelled job \(job.id)")
        }
    }
}

struct JobsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Forget jobs and their results; those that go on are cancelled first.",
        discussion: """
            EXAMPLES:
              skynode jobs delete 7f3a 81c0       these two
              skynode jobs delete --done          all that are done
              skynode jobs delete --older 7d      all that ended, older than a week
            """)

    @Argument(help: ArgumentHelp("Ids of jobs, or their first digits.", valueName: "job"))
    var jobs: [String] = []

    @Flag(help: "All jobs that are done; not those that failed or were cancelled.")
    var done = false

    @Option(help: ArgumentHelp("All jobs that have ended and were submitted so long ago: 7d, 12h.", valueName: "age"))
    var older: AgeArgument?

    @OptionGroup var options: NodeOptions

    func validate() throws {
        let isRule = done || older != nil
        guard jobs.isEmpty == isRule else {
            throw ValidationError(
                isRule ? "name jobs, or give --done or --older, not both" : "name a job, or give --done or --older")
        }
        guard !jobs.contains(JobReference.last) else { throw ValidationError(JobReference.namesNoVictim) }
    }

    func run() async throws {
        try await options.with { coordinator in
            let all = try await coordinator.list()
            let selection = JobSelection(states: done ? [.done] : [], age: older?.duration)
            let now = UInt64(max(0, Date.now.timeIntervalSince1970 * 1000))
            let chosen = jobs.isEmpty ? selection.select(all, now: now) : try JobSelection.named(jobs, in: all)
            var failure: (any Error)?
            for job in chosen {
                do {
                    try await coordinator.delete(job.id)
                } catch {
                    // The others are deleted all the same: this one may have been deleted by somebody else.
                    failure = failure ?? error
                    continue
                }
                switch options.format {
                case .text: Console.output("deleted job \(job.id) (\(PrintableText.of(job.title)))")
                case .json: Console.output(try JSONLine.encode(["deleted": job.id.description]))
                }
            }
            if let failure { throw failure }
            if chosen.isEmpty, options.format == .text { Console.output("no such jobs: nothing was deleted") }
        }
    }
}

struct JobsStorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Show disk space used by jobs and cached results, and the cache's hit rate.")

    @OptionGroup var options: NodeOptions

    func run() async throws {
        try await options.with { coordinator in
            let usage = try await coordinator.storage()
            switch options.format {
            case .text: for line in StorageLines(usage).lines { Console.output(line) }
            case .json: Console.output(try JSONLine.encode(usage))
            }
        }
    }
}

struct JobsResultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Write the files of a scan that has ended, as skynode scan does.",
        discussion: """
            Of a job that was cancelled or failed the catalogue holds the sectors that are done. @last is the newest scan \
            here, whatever comparisons and scans with artificial stars came after it.
            """)

    @OptionGroup(title: HelpSection.output) var output: OutputOptions

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.options.following { coordinator in
            let place = try output.place()
            let node = await coordinator.coordinator
            let (job, request) = try await JobReference.findScan(argument.job, in: try await node.list()) { job in
                do {
                    return try await node.details(job).request
                } catch let error as RemoteError where error.kind == .failed {
                    guard try await node.list().contains(where: { $0.id == job }) else { return nil }
                    throw error
                }
            }
            let results = ScanFetcher(coordinator: coordinator, job: job)
            let name = request.image.path
            let catalogue = try await results.catalogue(of: name, content: nil)
            let preview = try await results.preview()
            let stem = place.folder + "/" + ImagePath.stem(of: request.image)
            _ = try PreparedOutput(place, stems: [stem])
            let output = ScanFiles(
                name: name + (request.image.layer?.words ?? ""), stem: stem, formats: place.isFile ? [] : place.formats,
                configuration: request.configuration, catalogue: catalogue, companions: request.image.companions,
                detection: request.image.detection)
            let runs = preview == nil ? [] : try await results.runs()
            var files = try await output.write(
                preview: place.isFile ? nil : preview, runs: runs, facts: []
            ).paths
            let table = CatalogueTable([output.section], configuration: request.configuration)
            if case .standardOutput(let format) = place { return Console.output(bytes: try table.bytes(format)) }
            if case .file(let path, let format) = place {
                try table.write(format, to: path)
                files.append(path)
            }
            for file in files { Console.output("wrote \(PrintableText.of(file))") }
        }
    }
}
