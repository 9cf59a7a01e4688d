import ArgumentParser

/// Which node is asked.
struct NodeChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node to ask. Default: \(NodePlace.variable), else the daemon of this machine, else one found by "
                + "multicast.", valueName: "host:port"))
    var node: String?
}

/// Which node is asked, and how its answer is shown.
struct NodeOptions: ParsableArguments {
    @OptionGroup(title: HelpSection.connection) var choice: NodeChoice
    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.connection) var log: LogOptions
    @OptionGroup var display: DisplayOptions

    var node: String? { choice.node }
    var format: OutputFormat { display.format }
}

/// How long a command waits for the node that it asks, and for jobs that no node has now.
struct ReconnectChoice: ParsableArguments {
    @Option(
        name: .customLong("reconnect-for"),
        help: ArgumentHelp(
            "How long to wait for a node that is lost, and for jobs that another node is about to take over.",
            valueName: "time"))
    var patience = DurationArgument(Defaults.patience)
}

/// Which jobs a command is about: those of the whole cluster, unless one node's are meant only.
struct JobsOptions: ParsableArguments {
    @Flag(help: "Only the jobs of the node that is asked, and not of the whole cluster.")
    var here = false

    // The groups of `NodeOptions` one by one: each group within a group makes the parser four times as slow.
    @OptionGroup(title: HelpSection.connection) var choice: NodeChoice
    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.connection) var log: LogOptions
    @OptionGroup(title: HelpSection.connection) var reconnect: ReconnectChoice
    @OptionGroup var display: DisplayOptions

    var format: OutputFormat { display.format }
}
