import ArgumentParser
import Foundation
import SkyCore
import Transport

/// `skynode nodes`: who is in the cluster.
struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "List the nodes of the cluster.",
        discussion: "Asks a running node; without one there is no cluster, and the exit code is 3.")

    @Option(help: ArgumentHelp("The node to ask.", valueName: "host:port"))
    var node: String?

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    func run() async throws {
        let reports = try await ClusterSession.client(node: node, network: network, log: log) { coordinator in
            try await coordinator.nodes()
        }
        switch format {
        case .json:
            for report in reports { Console.output(try JSONLine.encode(NodeLine(report))) }
        case .text:
            for line in NodeTable(reports).lines { Console.output(line) }
        }
    }
}
