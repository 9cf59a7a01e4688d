import ArgumentParser
import Base
import SkyCore
import Transport

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

    func with<Result: Sendable>(_ body: (Coordinator) async throws -> Result) async throws -> Result {
        try await following { reach in try await body(await reach.coordinator) }
    }

    /// Does the same as `with` for work that goes on when the node is lost and comes back.
    func following<Result: Sendable>(
        patience: Duration = .zero, _ body: (CoordinatorReach) async throws -> Result
    ) async throws -> Result {
        try await ClusterSession.client(node: node, network: network, log: log, patience: patience) { reach in
            do {
                return try await body(reach)
            } catch let error as RemoteError {
                throw CommandFailure(.usage, PrintableText.of(error.message))
            }
        }
    }
}
