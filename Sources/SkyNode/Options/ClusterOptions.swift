import ArgumentParser
import Base
import Foundation
import SkyCore
import Transport

/// Which node a command uses. The command may also run a node of its own.
struct ClusterChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node to talk to. Default: \(NodePlace.variable), else the daemon of this machine, else one found by "
                + "multicast, else a node inside this command.", valueName: "host:port"))
    var node: String?

    @Option(
        help: ArgumentHelp(
            "Run a node with this many slots inside this command, beside those it finds.", valueName: "n"))
    var slots: Int?

    @Flag(help: "Use this machine only, whatever nodes there are.")
    var alone = false

    @Flag(
        name: .customLong("require-cluster"),
        help: ArgumentHelp(
            "End with exit code 3 where no other node is reached, instead of working on this machine only. "
                + "\(NodePlace.requirement)=true says the same."))
    var requireCluster = false

    @Option(
        name: .customLong("reconnect-for"),
        help: ArgumentHelp(
            "How long to wait for a node that is lost: one that is started again still has the jobs.",
            valueName: "time"))
    var patience = DurationArgument(Defaults.patience)
}

/// Which cluster a command uses.
struct ClusterOptions: ParsableArguments {
    @OptionGroup(title: HelpSection.cluster) var choice: ClusterChoice
    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.connection) var log: LogOptions
    @OptionGroup var display: DisplayOptions

    var node: String? { choice.node }
    var slots: Int? { choice.slots }
    var alone: Bool { choice.alone }
    /// Whether the command runs a member of the cluster.
    var isMember: Bool { !alone && (slots != nil || !network.join.isEmpty) }
    var patience: DurationArgument { choice.patience }
    var format: OutputFormat { display.format }

    /// The options by which another command reaches the same node.
    func connection(environment: [String: String] = ProcessInfo.processInfo.environment) -> [String] {
        network.connection(to: node, environment: environment)
    }

    /// Whether the command is to end where no other node is reached. `--alone` on the command line outweighs the variable.
    func requiresCluster(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Bool {
        let text = environment[NodePlace.requirement] ?? ""
        guard text.isEmpty || ConfiguredArguments.isFlag(text) else {
            throw CommandFailure(.usage, "\(NodePlace.requirement)=\(PrintableText.of(text)): takes true or false")
        }
        return choice.requireCluster || !alone && ConfiguredArguments.isOn(text)
    }

    func check() throws {
        _ = try requiresCluster()
        if alone, choice.requireCluster {
            throw CommandFailure(
                .usage, "--alone and --require-cluster contradict each other: one uses this machine only")
        }
        if let slots { _ = try SlotsArgument.check(slots, isInCommand: true) }
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

extension NetworkOptions {
    /// The options by which another command reaches the same node. How nodes are found is said only where none is named.
    func connection(
        to node: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String] {
        let searches = NodePlace.find(option: node, environment: environment) == nil
        return (node.map { ["--node", $0] } ?? []) + security.words + (searches ? searchWords : [])
    }
}
