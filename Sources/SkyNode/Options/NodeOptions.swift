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
