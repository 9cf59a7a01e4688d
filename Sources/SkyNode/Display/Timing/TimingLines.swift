import Base
import Sky

/// Where the time of a scan went, in two tables for people.
struct TimingLines {
    let lines: [String]

    /// The narrowest terminal that tables are made for.
    private static let width = 80
    /// The columns of a node's name where there is little room, in each of the tables of nodes.
    private static let nameWidths = (work: 40, stages: 10)

    /// - Parameter name: what it is about, if that is one of several images.
    init(_ timing: ScanTiming, of name: String? = nil) {
        let subject = name.map { "\(PrintableText.of($0)): " } ?? ""
        let seconds = timing.seconds
        var lines = ["\(subject)time of the steps, one after the other, in seconds"]
        let path = timing.notedPath
        let shares = path.map { step, _ in
            step.isBeside || seconds <= 0 ? "" : "\(DurationText.fixed(100 * step.seconds / seconds, 0)) %"
        }
        let columns = [
            TableColumn(nil, path.map { "  " + $0.step.step.name } + ["  together"]),
            TimingLines.number(nil, TimingLines.texts(path.map(\.step.seconds) + [seconds])),
            TimingLines.number(nil, shares + [""]), TableColumn(nil, path.map(\.note) + [""]),
        ]
        lines += TextTable(columns, width: TimingLines.width).lines
        if !timing.nodes.isEmpty, timing.workingSeconds > 0 {
            lines.append("\(subject)work of the nodes, in seconds of all their slots together")
            lines += TimingLines.work(timing) + TimingLines.stages(timing)
        }
        self.lines = lines + timing.remarks
    }

    /// How much each node did.
    private static func work(_ timing: ScanTiming) -> [String] {
        let nodes = timing.nodes
        let columns = [
            names(of: nodes, shortened: nameWidths.work),
            number("tasks", nodes.map { "\($0.tasks)" }), number("work", texts(nodes.map(\.seconds))),
            number("busy slots", nodes.map(timing.busyWords)),
        ]
        return TextTable(columns, steps: [.shorten("  node")], width: width).lines
    }

    /// What each node did.
    private static func stages(_ timing: ScanTiming) -> [String] {
        let nodes = timing.nodes
        var columns = [names(of: nodes, shortened: nameWidths.stages)]
        for stage in ScanStage.allCases {
            columns.append(number(head(of: stage), texts(nodes.map { $0.stages[stage] ?? 0 })))
        }
        columns.append(number("other", texts(nodes.map(\.other))))
        return TextTable(columns, steps: [.shorten("  node")], width: width).lines
    }

    private static func names(of nodes: [ScanTiming.NodePart], shortened width: Int) -> TableColumn {
        let names = nodes.map { ScanTiming.name(of: $0) }
        let short = names.map { $0.columns > width ? $0.prefix(columns: width - 1) + "…" : $0 }
        return TableColumn("  node", names.map { "  " + $0 }, shortCells: short.map { "  " + $0 })
    }

    /// The names of all stages have no room beside each other.
    private static func head(of stage: ScanStage) -> String {
        switch stage {
        case .background: "backgr"
        case .detection: "detect"
        case .deblending: "deblend"
        case .photometry: "photom"
        case .open, .digest, .read, .draw: stage.rawValue
        }
    }

    /// A column of numbers, which end below each other.
    private static func number(_ head: String?, _ cells: [String]) -> TableColumn {
        let width = ((head.map { [$0] } ?? []) + cells).map(\.columns).max() ?? 0
        func right(_ text: String) -> String {
            text.isEmpty ? "" : String(repeating: " ", count: width - text.columns) + text
        }
        return TableColumn(head.map(right), cells.map(right))
    }

    /// Seconds with as many decimals as there is room for, the same of all.
    private static func texts(_ seconds: [Double]) -> [String] {
        let longest = seconds.max() ?? 0
        return seconds.map { DurationText.fixed($0, longest < 100 ? 2 : longest < 1000 ? 1 : 0) }
    }
}
