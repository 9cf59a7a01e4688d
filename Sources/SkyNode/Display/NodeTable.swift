import SkyCore
import Transport

/// The list of nodes as a person reads it.
struct NodeTable {
    let lines: [String]

    /// - Parameter width: the columns that there are; `nil` for as many as the table takes.
    init(_ reports: [NodeReport], width: Int? = nil, style: TextStyle = .plain) {
        let nodes = reports.map { NodeLine($0) }
        let own = nodes.first { $0.found == "self" } ?? nodes.first
        let trips = nodes.map { NodeTable.roundTrip($0) }
        // It is of interest only where somebody measures otherwise.
        let isOneArithmetic = Set(nodes.map(\.arithmetic)).count < 2
        let columns =
            [
                TableColumn("NAME", nodes.map(\.name)),
                TableColumn("ID", nodes.map(\.id), shortCells: TableColumn.shortened(nodes.map(\.id))),
                TableColumn("ADDRESS", nodes.map { $0.address ?? "-" }),
                TableColumn("VERSION", nodes.map(\.version)),
            ] + (isOneArithmetic ? [] : [TableColumn("MEASURES", nodes.map { NodeTable.measures($0, as: own) })]) + [
                TableColumn("SLOTS", nodes.map { NodeTable.slots($0) }),
                TableColumn("LOAD", nodes.map { NodeTable.number($0.load) }),
                TableColumn("SPEED", nodes.map { NodeTable.number($0.speed) }),
                TableColumn("STATE", nodes.map(\.state), meanings: nodes.map { NodeTable.meaning($0.state) }),
                TableColumn("SINCE", nodes.map { DurationText.age($0.ageSeconds) }),
                TableColumn("ROUND TRIP", trips, shortHead: "RTT"),
                TableColumn("FOUND", nodes.map(\.found)),
            ]
        // A value that all nodes have tells nobody anything.
        let isOneVersion = Set(nodes.map(\.version)).count < 2
        let steps: [TextTable.Step] =
            (isOneVersion ? [.drop("VERSION")] : []) + [
                .shorten("ID"), .shorten("ROUND TRIP"), .drop("FOUND"), .drop("SPEED"), .drop("RTT"), .drop("LOAD"),
                .drop("ID"), .drop("SINCE"), .drop("VERSION"), .drop("MEASURES"), .drop("ADDRESS"),
            ]
        lines = TextTable(columns, steps: steps, width: width, style: style).lines
    }

    /// Whether the node shares scans with the one that was asked.
    private static func measures(_ node: NodeLine, as own: NodeLine?) -> String {
        node.arithmetic != nil && node.arithmetic == own?.arithmetic ? "alike" : "otherwise"
    }

    fileprivate static func slots(_ node: NodeLine) -> String { node.slots.map { "\(node.running ?? 0)/\($0)" } ?? "-" }

    fileprivate static func number(_ value: Double?) -> String { value.map { DurationText.fixed($0, 2) } ?? "-" }

    fileprivate static func roundTrip(_ node: NodeLine) -> String {
        node.roundTripMilliseconds.map { DurationText.fixed($0, 2) + " ms" } ?? "-"
    }

    fileprivate static func meaning(_ state: String) -> TextStyle.Meaning {
        switch state {
        case "alive": .good
        case "draining": .caution
        default: .bad
        }
    }
}

/// One node in full, for people.
struct NodeDetailLines {
    let lines: [String]

    init(_ report: NodeReport, style: TextStyle = .plain) {
        let node = NodeLine(report)
        let counts = [node.completed.map { "\($0) completed" }, node.failed.map { "\($0) failed" }].compactMap(\.self)
        let rows: [(name: String, value: String)] = [
            ("node", node.name), ("id", node.id), ("address", node.address ?? "-"), ("version", node.version),
            ("arithmetic", node.arithmetic ?? "-"),
            ("state", style.apply(NodeTable.meaning(node.state), to: node.state)),
            ("slots", node.slots.map { "\(node.running ?? 0) of \($0) in use" } ?? "-"),
            ("attempts", counts.isEmpty ? "-" : counts.joined(separator: ", ")),
            ("load", NodeTable.number(node.load)), ("speed", NodeTable.number(node.speed)),
            ("since", DurationText.age(node.ageSeconds)),
            ("up", node.uptimeSeconds.map { DurationText.age($0) } ?? "-"),
            ("round trip", NodeTable.roundTrip(node)),
            ("clock", node.clockOffsetSeconds.map { "\(DurationText.fixed($0, 3)) s ahead" } ?? "-"),
            ("found", node.found),
        ]
        lines = rows.map { name, value in
            name + String(repeating: " ", count: 12 - name.count) + value
        }
    }
}
