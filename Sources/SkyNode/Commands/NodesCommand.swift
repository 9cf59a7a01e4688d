import ArgumentParser
import Base
import SkyCore
import Transport

/// `skynode nodes`: who is in the cluster, and who is to get no more work.
struct NodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes", abstract: "List the nodes of the cluster, drain one, let it work again.",
        discussion: """
            EXAMPLES:
              skynode nodes                       who is there
              skynode nodes dome-2                one node, in full
              skynode nodes --watch               the list, kept up to date
              skynode nodes drain dome-2          no new work there, as before an upgrade
              skynode nodes resume dome-2
            """,
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
            let report = try NodeReference.find(name, in: try await coordinator.nodes())
            let node = report.member.node
            let lookup = JobLookup(coordinator: coordinator)
            let jobs = isDraining ? try await DrainedJobs(of: node, in: lookup.all()) : nil
            // The node is named by its id, because names need not differ.
            try await coordinator.drain(DrainRequest(node: "\(node)", isDraining: isDraining))
            let answer = WholeCluster.Answer<Void>(member: report.member, result: .success(()))
            var line = DrainLine(answer, isDraining: isDraining)
            line.jobs = await jobs?.settled(lookup)
            Console.output(options.format == .json ? try JSONLine.encode(line) : line.text)
        }
    }

    private func drainAll(_ isDraining: Bool, _ coordinator: Coordinator) async throws {
        let answers = try await WholeCluster(coordinator: coordinator).forEach { member in
            // The node is named by its id, because names need not differ.
            try await coordinator.drain(DrainRequest(node: "\(member.node)", isDraining: isDraining))
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
    /// Where its jobs go on, in words; `nil` where it had none, and where all nodes are drained.
    var jobs: String?

    init(_ answer: WholeCluster.Answer<Void>, isDraining: Bool) {
        name = PrintableText.of(answer.member.name)
        id = answer.member.node.description
        switch answer.result {
        case .success: state = isDraining ? "drained" : "resumed"
        case .failure(let silence): (state, reason) = ("unchanged", silence.reason)
        }
    }

    var text: String {
        "\(name): \(state)" + (reason.map { " (\($0))" } ?? "") + (jobs.map { "; \($0)" } ?? "")
    }
}

struct NodesDrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Stop sending work to a node until it is resumed or restarted; running tasks finish.",
        discussion: """
            Other nodes take the node's jobs over, and the line says which. Jobs of which no other node has a whole copy stay.

            With --all it prints what became of each node, and the exit code is 1 where one did not answer.
            """)

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
        commandName: "list", abstract: "List the nodes of the cluster, or show one.",
        discussion: """
            Asks a running node; without one there is no cluster, and the exit code is 3.

            FOUND says how the node that is asked came to know of another: by its beacon, by --join, by an introduction \
            of another node, or because the other dialled it (incoming). SPEED is measured on the tasks that it gave out: \
            1 is average. A node that does not answer within a second is listed with what is known of it. On a terminal, \
            columns that do not fit are left out; --wide shows them all.

            --watch keeps the list up to date until Ctrl-C. Where standard output is no terminal, and with --format json, \
            it prints a line for each node that is there, and then one for every change.
            """)

    @Argument(help: ArgumentHelp("Show this node only: its name or id.", valueName: "name"))
    var name: String?

    @Flag(help: "Keep watching.")
    var watch = false

    @Flag(help: "All columns, however wide the terminal is.")
    var wide = false

    @OptionGroup var options: NodeOptions

    private var format: OutputFormat { options.format }

    func validate() throws {
        guard name == nil || !watch else { throw ValidationError("--watch shows all nodes: leave the name out") }
    }

    func run() async throws {
        // Who names a node knows what it belongs to. Otherwise nodes that are missing here may have another key.
        let isWhole = name == nil && !watch && NodePlace.find(option: options.node) == nil
        async let strangers = isWhole ? ClusterSession.strangers(options.network) : nil
        try await list()
        if let line = await strangers {
            Console.error(
                "note: \(line), and not listed; if all are meant to be one cluster, copy one key file to all machines (skynode doctor)"
            )
        }
    }

    private func list() async throws {
        try await options.with { coordinator in
            if let name { return try show(try NodeReference.find(name, in: try await coordinator.nodes())) }
            switch (watch, format) {
            case (false, .text):
                let width = wide ? nil : Console.outputColumns
                let table = NodeTable(try await coordinator.nodes(), width: width, style: Console.outputStyle)
                for line in table.lines { Console.output(line) }
            case (false, .json):
                for report in try await coordinator.nodes() { Console.output(try JSONLine.encode(NodeLine(report))) }
            case (true, .text) where Console.outputIsTerminal: try await redrawTable(of: coordinator)
            case (true, _): try await printChanges(of: coordinator)
            }
        }
    }

    private func show(_ report: NodeReport) throws {
        switch format {
        case .text:
            for line in NodeDetailLines(report, style: Console.outputStyle).lines { Console.output(line) }
        case .json: Console.output(try JSONLine.encode(NodeLine(report)))
        }
    }

    /// Prints a line for every change.
    private func printChanges(of coordinator: Coordinator) async throws {
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

    /// Draws the table again every second and with every change.
    private func redrawTable(of coordinator: Coordinator) async throws {
        var next: UInt64?
        while !Task.isCancelled, !Console.isOutputLost {
            // The table is as wide as the window is by now, unless all columns are wanted.
            let width = wide ? nil : Console.outputColumns
            Console.screen(NodeTable(try await coordinator.nodes(), width: width, style: Console.outputStyle).lines)
            let page = try await coordinator.membership(MembershipRequest(from: next, patience: .seconds(1)))
            next = page.next
        }
    }
}
