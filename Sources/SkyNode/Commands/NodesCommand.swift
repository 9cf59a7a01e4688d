import ArgumentParser
import Base
import SkyCore
import Transport

/// `skynode nodes`: who is in the cluster, and who is to get no more work.
struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "List the nodes of the cluster, drain one, let it work again.",
        subcommands: [NodesListCommand.self, NodesDrainCommand.self, NodesResumeCommand.self],
        defaultSubcommand: NodesListCommand.self)
}

/// Which node is meant, and which is asked.
struct NodeArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The node's name or id.", valueName: "name"))
    var name: String?

    @Flag(help: "Every node of the cluster.")
    var all = false

    @OptionGroup var options: NodeOptions

    func validate() throws {
        guard (name == nil) == all else {
            throw ValidationError(all ? "give a name or --all, not both" : "name a node, or --all for every one")
        }
    }

    func drain(_ isDraining: Bool) async throws {
        try await options.with { coordinator in
            guard let name else { return try await drainAll(isDraining, coordinator) }
            try await coordinator.drain(DrainRequest(node: name, isDraining: isDraining))
        }
    }

    private func drainAll(_ isDraining: Bool, _ coordinator: Coordinator) async throws {
        let answers = try await WholeCluster(coordinator: coordinator).forEach { report in
            // By id: names need not differ.
            try await coordinator.drain(DrainRequest(node: "\(report.member.node)", isDraining: isDraining))
        }
        var isComplete = true
        for answer in answers {
            let line = DrainLine(answer, isDraining: isDraining)
            if line.reason != nil { isComplete = false }
            Console.output(options.format == .json ? try JSONLine.encode(line) : line.text)
        }
        if !isComplete { throw CommandFailure(.partlyFailed) }
    }
}

/// What became of one node of many that were to be drained or resumed.
struct DrainLine: Encodable {
    var name: String
    var id: String
    /// drained, resumed or unchanged.
    var state: String
    /// Why it is unchanged.
    var reason: String?

    init(_ answer: WholeCluster.Answer<Void>, isDraining: Bool) {
        name = PrintableText.of(answer.member.name)
        id = answer.member.node.description
        switch answer.result {
        case .success: state = isDraining ? "drained" : "resumed"
        case .failure(let silence): (state, reason) = ("unchanged", silence.reason)
        }
    }

    var text: String { "\(name): \(state)" + (reason.map { " (\($0))" } ?? "") }
}

struct NodesDrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Give a node no new work; what runs there goes on. Until it is resumed or restarted.",
        discussion: "With --all it prints what became of each node, and the exit code is 1 where one did not answer.")

    @OptionGroup var node: NodeArgument

    func run() async throws { try await node.drain(true) }
}

struct NodesResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Give a node that was drained work again.",
        discussion: "With --all it prints what became of each node, and the exit code is 1 where one did not answer.")

    @OptionGroup var node: NodeArgument

    func run() async throws { try await node.drain(false) }
}

struct NodesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the nodes of the cluster.",
        discussion: """
            Asks a running node; without one there is no cluster, and the exit code is 3.

            FOUND says how the node that is asked came to know of another: by its beacon, by --join, by an introduction \
            of another node, or because the other dialled it (incoming). SPEED is measured on the tasks that it gave out: \
            1 is average. A node that does not answer within a second is listed with what is known of it.

            --watch keeps the list up to date until Ctrl-C. Where standard output is no terminal, and with --format json, \
            it prints a line for each node that is there, and then one for every change.
            """)

    @Option(help: ArgumentHelp("The node to ask.", valueName: "host:port"))
    var node: String?

    @Flag(help: "Keep watching.")
    var watch = false

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    func run() async throws {
        try await ClusterSession.client(node: node, network: network, log: log) { reach in
            let coordinator = await reach.coordinator
            switch (watch, format) {
            case (false, .text): for line in NodeTable(try await coordinator.nodes()).lines { Console.output(line) }
            case (false, .json):
                for report in try await coordinator.nodes() { Console.output(try JSONLine.encode(NodeLine(report))) }
            case (true, .text) where Console.outputIsTerminal: try await picture(coordinator)
            case (true, _): try await follow(coordinator)
            }
        }
    }

    /// A line for every change.
    private func follow(_ coordinator: Coordinator) async throws {
        var known = MembershipLines()
        var next: UInt64?
        while !Task.isCancelled, !Console.isOutputLost {
            let page = try await coordinator.membership(MembershipRequest(from: next, patience: .seconds(10)))
            next = page.next
            for line in known.lines(page) {
                Console.output(format == .json ? try JSONLine.encode(line) : line.text)
            }
        }
    }

    /// The table, drawn again every second and with every change.
    private func picture(_ coordinator: Coordinator) async throws {
        var next: UInt64?
        while !Task.isCancelled, !Console.isOutputLost {
            let lines = NodeTable(try await coordinator.nodes()).lines
            Console.screen(lines)
            let page = try await coordinator.membership(MembershipRequest(from: next, patience: .seconds(1)))
            next = page.next
        }
    }
}
