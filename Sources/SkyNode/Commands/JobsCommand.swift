import ArgumentParser
import Base
import Foundation
import Sky
import SkyCore
import Transport

/// `skynode jobs`: what the coordinators of a cluster have been given to do.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List, follow, cancel, fetch and submit jobs.",
        discussion: """
            Jobs belong to the node they were submitted to and are kept there, with their results, until they are deleted \
            or old. Where there are three nodes or more, two others keep copies and take the jobs over when that node is \
            lost. All commands find the jobs of the whole cluster, whichever node is asked; --here is for one node's. A job \
            is called by its id, by the first digits of it, or @last, the newest (jobs results: the newest scan).

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
            JobsResultsCommand.self, JobsSubmitCommand.self,
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

    @OptionGroup var options: JobsOptions

    /// - Parameter isVictim: whether the job is to be stopped or deleted.
    func with<Result: Sendable>(
        isVictim: Bool = false, _ body: @Sendable (Coordinator, JobListing) async throws -> Result
    ) async throws -> Result {
        try await options.with { [job] lookup in
            let found = try await lookup.find(job, isVictim: isVictim)
            return try await body(found.coordinator, found.job)
        }
    }
}

struct JobsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the jobs of the cluster, the newest last, or show one.",
        discussion: """
            Each line names the node that has the job. Where jobs are missing, because a node does not answer or because they \
            wait to be taken over, a line on standard error says so, and the exit code is 3. On a terminal, columns that do \
            not fit are left out; --wide shows them all.
            """)

    @Argument(help: ArgumentHelp("Show this job only: its id, its first digits, or @last.", valueName: "job"))
    var job: String?

    /// What is usual now. Earlier versions listed one node's jobs without it.
    @Flag(help: .hidden)
    var all = false

    @Option(help: ArgumentHelp("Only jobs in this state; repeat for more.", valueName: "state"))
    var state: [NamedArgument<JobState>] = []

    @Option(help: ArgumentHelp("Only so many, the newest.", valueName: "n"))
    var limit: Int?

    @Flag(help: "All columns, however wide the terminal is.")
    var wide = false

    @OptionGroup var options: JobsOptions

    func validate() throws {
        guard limit ?? 1 > 0 else { throw ValidationError("--limit takes a number from 1") }
        guard job == nil || (!all && state.isEmpty && limit == nil) else {
            throw ValidationError("name a job, or say which are listed, not both")
        }
        guard !all || !options.here else { throw ValidationError("give --all or --here, not both") }
    }

    func run() async throws {
        if let job {
            return try await options.with { [format = options.format] lookup in
                let found = try await lookup.find(job)
                try await JobsShowCommand.show(found.job, found.coordinator, format)
            }
        }
        let known = try await options.with { try await $0.all() }
        try print(known)
        for line in known.lines { Console.error("skynode: \(line)") }
        if !known.isComplete { throw CommandFailure(.noCluster) }
    }

    private func print(_ known: KnownJobs) throws {
        let selection = JobSelection(states: Set(state.map(\.value)), limit: limit)
        let chosen = Set(selection.select(known.entries.map(\.job), now: 0).map(\.id))
        let jobs = known.entries.filter { chosen.contains($0.job.id) }
            .map { (node: options.here ? nil : PrintableText.of($0.member.name), job: $0.job) }
        switch options.format {
        case .text:
            let columns = Console.outputColumns
            let table = JobTable(
                jobs, namesNodes: known.nodeCount > 1, width: wide ? nil : columns, now: columns == nil ? nil : .now,
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
        try await argument.with { [format = argument.options.format] in
            try await JobsShowCommand.show($1, $0, format)
        }
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
        try await argument.with { [format = argument.options.format] coordinator, job in
            let explanation = try await coordinator.why(job.id)
            switch format {
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
        let report = try await argument.options.following { coordinator in
            let job = try await coordinator.find { [here = argument.options.here, job = argument.job] in
                try await JobLookup(coordinator: $0, isHere: here).find(job)
            }
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
        try await argument.with(isVictim: true) { [format = argument.options.format] coordinator, job in
            try await coordinator.cancel(job.id)
            guard format == .text else { return }
            let before = job.state == nil ? nil : JobState(job).words
            Console.output(before.map { "job \(job.id) had ended before: \($0)" } ?? "cancelled job \(job.id)")
        }
    }
}

struct JobsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Forget jobs and their results; those that go on are cancelled first.",
        discussion: """
            Jobs that are named are deleted wherever they are. --done and --older delete those of the node that is asked, and \
            with --all those of every node.

            EXAMPLES:
              skynode jobs delete 7f3a 81c0       these two
              skynode jobs delete --done          all that are done, of the asked node
              skynode jobs delete --done --all    of every node
              skynode jobs delete --older 7d      all that ended, older than a week
            """)

    @Argument(help: ArgumentHelp("Ids of jobs, or their first digits.", valueName: "job"))
    var jobs: [String] = []

    @Flag(help: "All jobs that are done; not those that failed or were cancelled.")
    var done = false

    @Option(help: ArgumentHelp("All jobs that have ended and were submitted so long ago: 7d, 12h.", valueName: "age"))
    var older: AgeArgument?

    @Flag(help: "With --done or --older: those of every node.")
    var all = false

    @OptionGroup var options: JobsOptions

    func validate() throws {
        let isRule = done || older != nil
        guard jobs.isEmpty == isRule else {
            throw ValidationError(
                isRule ? "name jobs, or give --done or --older, not both" : "name a job, or give --done or --older")
        }
        guard !all || isRule else { throw ValidationError("--all goes with --done or --older") }
        guard !all || !options.here else { throw ValidationError("give --all or --here, not both") }
        guard !jobs.contains(JobReference.last) else { throw ValidationError(JobReference.namesNoVictim) }
    }

    func run() async throws {
        try await options.following { connection in
            let chosen = try await connection.call { [self] in
                try await choose(JobLookup(coordinator: $0, isHere: options.here))
            }
            var failure: (any Error)?
            for found in chosen.jobs {
                do {
                    try await connection.call { node in try await found.delete(through: node) }
                } catch {
                    // The others are deleted all the same: this one may have been deleted by somebody else.
                    failure = failure ?? error
                    continue
                }
                switch options.format {
                case .text: Console.output("deleted job \(found.job.id) (\(PrintableText.of(found.job.title)))")
                case .json: Console.output(try JSONLine.encode(["deleted": found.job.id.description]))
                }
            }
            if let failure { throw failure }
            if chosen.jobs.isEmpty, options.format == .text { Console.output("no such jobs: nothing was deleted") }
            for line in chosen.lines { Console.error("skynode: \(line)") }
            if !chosen.isComplete { throw CommandFailure(.noCluster) }
        }
    }

    /// What is to be deleted.
    private struct Choice: Sendable {
        var jobs: [FoundJob]
        /// What is to be said of the jobs that are not among them.
        var lines: [String] = []
        var isComplete = true
    }

    @Sendable private func choose(_ lookup: JobLookup) async throws -> Choice {
        guard jobs.isEmpty else { return Choice(jobs: try await lookup.find(jobs, isVictim: true)) }
        let known = try await lookup.all()
        let selection = JobSelection(states: done ? [.done] : [], age: older?.duration)
        let now = UInt64(max(0, Date.now.timeIntervalSince1970 * 1000))
        let selected = Set(selection.select(known.entries.map(\.job), now: now).map(\.id))
        let asked = lookup.coordinator.id.node
        let entries = known.entries.filter { selected.contains($0.job.id) }
        let meant = all ? entries : entries.filter { $0.member.node == asked }
        var choice = Choice(
            jobs: try meant.map {
                FoundJob(
                    job: $0.job, coordinator: try WholeCluster.coordinator(of: $0.member, like: lookup.coordinator))
            })
        if all {
            (choice.lines, choice.isComplete) = (known.lines, known.isComplete)
        } else if entries.count > meant.count {
            choice.lines = [
                "\(entries.count - meant.count) such jobs of other nodes are kept; --all deletes those, too"
            ]
        }
        return choice
    }
}

struct JobsStorageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storage",
        abstract: "Show disk space used by jobs and cached results, and the cache's hit rate, of each node.")

    @OptionGroup var options: JobsOptions

    func run() async throws {
        let (asked, answers, waiting) = try await options.with { [here = options.here] lookup in
            let cluster = WholeCluster(coordinator: lookup.coordinator)
            let asked = lookup.coordinator.id.node
            guard here else {
                async let waiting = lookup.waiting()
                return (asked, try await cluster.ask { try await $0.storage() }, await waiting)
            }
            let own = WholeCluster.Answer(
                member: try await cluster.ownMember, result: .success(try await lookup.coordinator.storage()))
            return (asked, WholeCluster.Answers(nodes: [own]), [])
        }
        let known = KnownJobs(answers.map { _ in [] }, waiting: waiting)
        // The node that is asked comes first, the others in the order of their names.
        let nodes = answers.nodes
        for answer in nodes.filter({ $0.member.node == asked }) + nodes.filter({ $0.member.node != asked }) {
            let name = PrintableText.of(answer.member.name)
            switch (answer.result, options.format) {
            case (.failure(let silence), _):
                Console.error("skynode: what \(name) stores is not known: \(silence.reason)")
            case (.success(let usage), .text):
                if nodes.count > 1 { Console.output("\(name):") }
                for line in StorageLines(usage).lines { Console.output(line) }
            case (.success(let usage), .json):
                Console.output(try JSONLine.encode(StorageLine(node: answer.member.name, usage: usage)))
            }
        }
        for line in known.absentLines { Console.error("skynode: not among these: \(line)") }
        if !known.isComplete { throw CommandFailure(.noCluster) }
    }
}

/// What a node's journal holds, as a program reads it.
struct StorageLine: Encodable {
    var node: String
    var usage: JournalUsage

    private enum Key: CodingKey { case node }

    func encode(to encoder: any Encoder) throws {
        try usage.encode(to: encoder)
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(node, forKey: .node)
    }
}

struct JobsResultsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Write the files of a scan that has ended, as skynode scan does.",
        discussion: """
            Of a job that was cancelled or failed the catalogue holds the sectors that are done. @last is the newest scan, \
            whatever comparisons and scans with artificial stars came after it.
            """)

    @OptionGroup(title: HelpSection.output) var output: OutputOptions

    @OptionGroup var argument: JobArgument

    func validate() throws {
        guard output.checkImages == nil else {
            throw ValidationError("no check images are kept with a job: scan the image again with --check-image")
        }
    }

    func run() async throws {
        try await argument.options.following { coordinator in
            let (place, overwrites) = (try output.place(), output.replacing.overwrite)
            let (found, request) = try await coordinator.call { [here = argument.options.here, job = argument.job] in
                try await JobLookup(coordinator: $0, isHere: here).findScan(job)
            }
            await coordinator.move(to: found.coordinator)
            let job = found.job.id
            let results = ScanFetcher(coordinator: coordinator, job: job)
            let name = request.image.path
            let catalogue = try await results.catalogue(of: name, content: nil)
            let preview = try await results.preview()
            let stem = place.folder + "/" + request.image.stem
            let files =
                place.isFile
                ? [] : place.formats.map(ResultFile.catalogue) + (preview == nil ? [] : ResultFile.pictures)
            _ = try PreparedOutput(
                place, files: files, stems: [stem], merged: place.isFile ? place.merged(besides: []) : [],
                inputs: Set(request.image.paths.map { ImagePath.resolved($0) ?? $0 }), overwrites: overwrites)
            var output = ScanFiles(
                name: name + (request.image.layer?.words ?? ""), stem: stem, formats: place.isFile ? [] : place.formats,
                configuration: request.configuration, catalogue: catalogue, companions: request.image.companions,
                detection: request.image.detection)
            output.overwrites = overwrites
            let runs = preview == nil ? [] : try await results.runs()
            var written = try await output.write(
                preview: place.isFile ? nil : preview, runs: runs, facts: []
            ).paths
            let table = CatalogueTable([output.section], configuration: request.configuration)
            if case .standardOutput(let format) = place { return Console.output(bytes: try table.bytes(format)) }
            if case .file(let path, let format) = place {
                try table.write(format, to: path, overwriting: overwrites)
                written.append(path)
            }
            for file in written { Console.output("wrote \(PrintableText.of(file))") }
        }
    }
}
