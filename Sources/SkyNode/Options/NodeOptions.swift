import ArgumentParser
import Base
import SkyCore
import Transport

/// Which node is asked, and how it is shown.
struct NodeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The node to ask. Default: the daemon of this machine, else one found by multicast.", valueName: "host:port"
        ))
    var node: String?

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    func with<Result: Sendable>(_ body: (Coordinator) async throws -> Result) async throws -> Result {
        try await following { reach in try await body(await reach.coordinator) }
    }

    /// As `with`, for what goes on where the node is lost and comes back.
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
