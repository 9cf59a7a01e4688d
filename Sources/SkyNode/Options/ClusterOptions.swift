import ArgumentParser
import SkyCore
import Transport

/// Which cluster a command uses.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node to talk to. Default: the daemon of this machine, else one found by multicast, else a node "
                + "inside this command.", valueName: "host:port"))
    var node: String?

    @Option(
        help: ArgumentHelp(
            "Run a node with this many slots inside this command, beside those it finds.", valueName: "n"))
    var slots: Int?

    @Flag(help: "Use this machine only, whatever nodes there are.")
    var alone = false

    @Option(
        name: .customLong("reconnect-for"),
        help: ArgumentHelp(
            "How long to wait for the node where it is lost: one that is started again still has the jobs.",
            valueName: "time"))
    var patience = DurationArgument(CoordinatorReach.usualPatience)

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    func check() throws {
        if let slots { _ = try SlotsArgument.check(slots) }
        if node != nil, slots != nil {
            throw CommandFailure(.usage, "--node and --slots contradict each other: one uses a node that runs")
        }
        if alone, node != nil || !network.join.isEmpty {
            throw CommandFailure(
                .usage, "--alone and \(node != nil ? "--node" : "--join") contradict each other: one names another node"
            )
        }
        _ = try network.multicastSettings()
        _ = try network.seeds()
        if let node {
            let address = try AddressArgument.parse(node, option: "--node", allowsPortZero: false)
            try network.security.checkReach(address, option: "--node")
        }
    }
}
