import SkyCore
import Transport

/// One node as a program reads it.
struct NodeLine: Encodable {
    var name: String
    var id: String
    var address: String?
    var version: String
    var slots: Int
    var running: Int
    var completed: Int
    var failed: Int
    var state: String
    var uptimeSeconds: Double
    var roundTripMilliseconds: Double?

    init(_ report: NodeReport) {
        name = PrintableText.of(report.status.name)
        id = report.status.node.description
        address = report.address?.description
        version = PrintableText.of(report.status.version)
        slots = report.status.slots
        running = report.status.running
        completed = report.status.completed
        failed = report.status.failed
        state = report.state.rawValue
        uptimeSeconds = report.status.uptime.inSeconds
        roundTripMilliseconds = report.roundTrip.map { $0.inSeconds * 1000 }
    }
}

/// The list of nodes as a person reads it.
struct NodeTable {
    let lines: [String]

    init(_ reports: [NodeReport]) {
        var rows = [["NAME", "ID", "ADDRESS", "VERSION", "SLOTS", "DONE", "FAILED", "STATE", "UP", "ROUND TRIP"]]
        for line in reports.map(NodeLine.init) {
            rows.append([
                line.name, line.id, line.address ?? "-", line.version, "\(line.running)/\(line.slots)",
                "\(line.completed)", "\(line.failed)", line.state,
                DurationText.fixed(line.uptimeSeconds, 0) + " s",
                line.roundTripMilliseconds.map { DurationText.fixed($0, 2) + " ms" } ?? "-",
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        lines = rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
