import ArgumentParser
import SkyCore

/// How a job is run: its priority, its limits and its nodes.
struct JobFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp("Jobs of a higher priority go first, from -100 to 100; equal ones share.", valueName: "n"))
    var priority = 0

    @Option(help: ArgumentHelp("How often a task that fails is tried again. Default: 3.", valueName: "n"))
    var retries: Int?

    @Option(
        name: .customLong("allow-failures"),
        help: ArgumentHelp("Give the job up when more tasks than this have failed.", valueName: "n"))
    var allowFailures: Int?

    @Option(
        name: .customLong("time-limit"),
        help: ArgumentHelp(
            "Longest time of one try of a task: 90s, 10m, 2h; its worker process is killed then. Default: 10m.",
            valueName: "time"))
    var timeLimit: DurationArgument?

    @Option(help: ArgumentHelp("Give the job up when it is not done after this time: 90s, 10m, 2h.", valueName: "time"))
    var deadline: DurationArgument?

    @Option(
        name: .customLong("use-node"), parsing: .singleValue,
        help: ArgumentHelp("Use only this node; repeat for more.", valueName: "name or id"))
    var useNode: [String] = []

    @Option(
        name: .customLong("avoid-node"), parsing: .singleValue,
        help: ArgumentHelp("Do not use this node; repeat for more.", valueName: "name or id"))
    var avoidNode: [String] = []

    func apply(to request: inout JobRequest) {
        request.options.priority = priority
        request.options.retries = retries
        request.options.use = Set(useNode)
        request.options.avoid = Set(avoidNode)
        request.allowedFailures = allowFailures
        request.deadline = deadline?.duration
        if let timeLimit { request.taskTimeLimit = timeLimit.duration }
    }
}

/// How a job is submitted.
struct SubmissionFlags: ParsableArguments {
    @Flag(help: "Do not wait: print the job's id. `skynode jobs` follows it and fetches its results.")
    var detach = false

    @Option(
        help: ArgumentHelp(
            "A name of your own for this job. Submitting it again under the same name starts nothing and follows the "
                + "job that is there.", valueName: "text"))
    var token: String?

    func check(_ cluster: ClusterOptions) throws {
        guard detach, cluster.slots != nil else { return }
        throw CommandFailure(
            .usage, "--detach and --slots contradict each other: the node inside this command ends with it")
    }
}
