import ArgumentParser
import Base
import Sky
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
            JobsListCommand.self, JobsShowCommand.self, JobsWhyCommand.self, JobsWatchCommand.self,
            JobsResultsCommand.self,
            JobsCancelCommand.self, JobsDeleteCommand.self, JobsStorageCommand.self,
        ], defaultSubcommand: JobsListCommand.self)
}

/// Which job is meant, and which node is asked.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job's id, or its first digits.", valueName: "job"))
    var job: String

    @OptionGroup var options: NodeOptions

    func with<Result: Sendable>(_ body: (Coordinator, JobListing) async throws -> Result) async throws -> Result {
        try await options.with { try await body($0, try await find(job, $0)) }
    }

    /// As `with`, for what goes on where the node is lost and comes back.
    func following<Result: Sendable>(
        patience: Duration = .zero, _ body: (CoordinatorReach, JobListing) async throws -> Result
    ) async throws -> Result {
        try await options.following(patience: patience) {
            try await body($0, try await find(job, await $0.coordinator))
        }
    }

    /// The one job whose id begins so.
    ///
    /// - Throws: `CommandFailure` where there is none, or more.
    private func find(_ prefix: String, _ coordinator: Coordinator) async throws -> JobListing {
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
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all jobs of a node, the oldest first.",
        discussion: """
            With --all it lists those of every node of the cluster, names the nodes that do not answer, and the exit code is \
            1 where there are such.
            """)

    @Flag(help: "The jobs of every node of the cluster; each line names the node that has the job.")
    var all = false

    @OptionGroup var options: NodeOptions

    func run() async throws {
        try await options.with { coordinator in
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

    private func print(_ jobs: [(node: String?, job: JobListing)]) throws {
        switch options.format {
        case .text:
            for line in JobTable(jobs, namesNodes: all).lines { Console.output(line) }
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
        try await argument.with { coordinator, job in
            let details = try await coordinator.details(job.id)
            switch argument.options.format {
            case .text: for line in JobDetailLines(job, details).lines { Console.output(line) }
            case .json:
                Console.output(try JSONLine.encode(JobLine(job, details)))
            }
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
        commandName: "watch", abstract: "Follow a job to its end. Ctrl-C ends the following, not the job.")

    @Flag(name: .shortAndLong, help: "Tell every completed task.")
    var verbose = false

    @OptionGroup var argument: JobArgument

    func run() async throws {
        let report = try await argument.following(patience: CoordinatorReach.usualPatience) { coordinator, job in
            let display = ProgressDisplay(isQuiet: argument.options.format == .json)
            coordinator.speak(through: display)
            let printer = EventPrinter(format: argument.options.format, isVerbose: verbose, display: display)
            defer { display.finish() }
            return try await JobWatch(coordinator: coordinator)
                .attach(job.id, interrupts: nil) { printer.tell($0) }
        }
        try JobSummary.tell(report, argument.options.format)
    }
}

struct JobsCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job everywhere; what is done of it is kept.")

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.with { try await $0.cancel($1.id) }
    }
}

struct JobsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Forget a job and its results; one that goes on is cancelled first.")

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.with { try await $0.delete($1.id) }
    }
}

struct JobsStorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Tell how much room jobs and earlier results take, and how often those helped.")

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
        discussion: "Of a job that was cancelled or failed the catalogue holds the sectors that are done.")

    @OptionGroup var output: OutputOptions

    @OptionGroup var argument: JobArgument

    func run() async throws {
        try await argument.following { coordinator, job in
            let place = try output.place()
            let details = try await coordinator.coordinator.details(job.id)
            guard let request = details.request.kind.scan else {
                throw CommandFailure(.usage, "job \(job.id) is no scan: it has no results")
            }
            guard request.image.injection == nil else {
                throw CommandFailure(
                    .usage, "job \(job.id) scanned an image with injected stars: its catalogue is not one of the sky")
            }
            let results = ScanResults(coordinator: coordinator, job: job.id)
            let name = request.image.path
            let catalogue = try await results.catalogue(withDigestOf: name)
            let preview = try await results.preview()
            let stem = place.folder + "/" + ScanPlan.stem(of: request.image)
            try place.prepare(stems: [stem])
            let output = ScanFiles(
                name: name + (request.image.layer?.words ?? ""), stem: stem, formats: place.isFile ? [] : place.formats,
                configuration: request.configuration, catalogue: catalogue, companions: request.image.companions,
                detection: request.image.detection)
            let runs = preview == nil ? [] : try await results.runs()
            var files = try output.write(
                preview: place.isFile ? nil : preview, runs: runs, facts: [])
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
