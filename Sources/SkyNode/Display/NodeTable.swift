import SkyCore
import Transport

/// The list of nodes as a person reads it.
struct NodeTable {
    let lines: [String]

    private static let head = [
        "NAME", "ID", "ADDRESS", "VERSION", "SLOTS", "LOAD", "SPEED", "STATE", "SINCE", "ROUND TRIP", "FOUND",
    ]

    init(_ reports: [NodeReport]) {
        lines = TextTable(head: NodeTable.head, rows: reports.map { NodeTable.row(NodeLine($0)) }).lines
    }

    private static func row(_ line: NodeLine) -> [String] {
        let slots = line.slots.map { "\(line.running ?? 0)/\($0)" }
        return [
            line.name, line.id, line.address ?? "-", line.version, slots ?? "-",
            line.load.map { DurationText.fixed($0, 2) } ?? "-", line.speed.map { DurationText.fixed($0, 2) } ?? "-",
            line.state, NodeTable.age(line.ageSeconds),
            line.roundTripMilliseconds.map { DurationText.fixed($0, 2) + " ms" } ?? "-", line.found,
        ]
    }

    /// Two units at most: 45 s, 12 m 5 s, 3 h 20 m, 9 d 4 h.
    static func age(_ seconds: Double) -> String {
        let whole = Int(min(max(0, seconds), 1e9))
        let units = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")]
        let first = units.firstIndex { whole >= $0.0 } ?? 3
        return units[first..<min(first + 2, 4)].enumerated().map { place, unit in
            "\((place == 0 ? whole : whole % units[first].0) / unit.0) \(unit.1)"
        }.joined(separator: " ")
    }
}
