import ArgumentParser
import SkyCore
import SkyJobs
import Transport

/// `skynode simulate`: a rehearsal, with tasks that only take their time.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Rehearse a job: tasks of a fixed length, with faults if wanted.",
        discussion: """
            EXAMPLES:
              skynode simulate --tasks 100 --duration 250ms
              skynode simulate --fail-every 5             see retries
              skynode simulate --poison 7                 see a task that can never be done
              skynode simulate --tasks 1 --duration 1ms --repeat 1000
            """)

    @Option(help: ArgumentHelp("How many tasks.", valueName: "n"))
    var tasks = 20

    @Option(help: ArgumentHelp("How long each takes: 250ms, 1s, 2m.", valueName: "time"))
    var duration = DurationArgument(.seconds(1))

    @Option(
        name: .customLong("fail-every"),
        help: ArgumentHelp("Fail the first try of every n-th task.", valueName: "n"))
    var failEvery: Int?

    @Option(
        name: .customLong("crash-every"),
        help: ArgumentHelp(
            "Kill the node at the first try of every n-th task, where it allows that.", valueName: "n",
            visibility: .hidden))
    var crashEvery: Int?

    @Option(
        help: ArgumentHelp(
            """
            A task that can never be done (repeatable): at every try it crashes its worker process, or what is said: \
            crash, hang, memory (takes all there is), node (kills the daemon, where that allows it).
            """, valueName: "n[:how]"))
    var poison: [PoisonArgument] = []

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "Run N jobs in a row and print the median and 99th percentile of their durations.",
            valueName: "n"))
    var rounds: Int?

    @Flag(name: .shortAndLong, help: "Print every completed task.")
    var verbose = false

    @OptionGroup(title: HelpSection.job) var flags: JobFlags
    @OptionGroup(title: HelpSection.job) var submission: SubmissionFlags
    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        var simulation = SimulateRequest(tasks: tasks, duration: duration.duration)
        simulation.failEvery = failEvery
        simulation.crashEvery = crashEvery
        if !poison.isEmpty { simulation.poison = Dictionary(poison.map { ($0.task, $0.kind) }) { $1 } }
        var job = JobRequest(.simulate(simulation))
        flags.apply(to: &job)
        try job.validate()
        try submission.check(cluster)
        let request = Submission(job, token: submission.token)
        if let rounds { return try await repeated(request, rounds) }
        if submission.detach { return try await JobHandover.detach([request], cluster.destination) }

        let (format, isVerbose) = (cluster.format, verbose)
        let report = try await Interrupts.during(connection: cluster.connection()) { interrupts in
            try await ClusterSession.with(cluster) { coordinator in
                let display = ProgressDisplay(format)
                let printer = EventPrinter(format: format, isVerbose: isVerbose, display: display)
                defer { display.finish() }
                interrupts.speak(through: display)
                coordinator.speak(through: display)
                return try await JobWatch(coordinator: coordinator)
                    .run(request, interrupts: interrupts) { printer.print($0) }.report
            }
        }
        try JobSummary.print(report, format)
    }

    private func repeated(_ request: Submission, _ rounds: Int) async throws {
        guard (1...1_000_000).contains(rounds), !submission.detach, request.token == nil else {
            throw CommandFailure(.usage, "--repeat takes a number from 1 to 1000000, and neither --detach nor --token")
        }
        let times = try await Interrupts.during(connection: cluster.connection()) { interrupts in
            try await ClusterSession.with(cluster) { coordinator in
                try await RepeatedJobs(coordinator: coordinator).run(request, rounds, interrupts)
            }
        }
        switch cluster.format {
        case .text: for line in times.lines { Console.output(line) }
        case .json: Console.output(try JSONLine.encode(times.line))
        }
    }
}
