import Foundation

/// The results as they are printed.
struct Report {
    var results: Results

    var text: String {
        let tables = Load.all.compactMap(table)
        return (tables + [targets].compactMap(\.self)).joined(separator: "\n\n")
    }

    private func table(_ load: Load) -> String? {
        let rows = results.rows.filter { $0.load == load }
        guard !rows.isEmpty else { return nil }
        var table = TextTable(title: load.title, head: ["calls/s"])
        let isLatency = rows.contains { $0.best.latency != nil }
        table.head += isLatency ? ["mean µs", "p50", "p99", "p99.9"] : ["MiB/s"]
        table.head += ["CPU µs/call", "allocations/call"]
        table.rows = rows.map { row in
            let figures = row.best
            var cells = [row.contestant, number(figures.callsPerSecond, 0)]
            if let latency = figures.latency {
                cells += [latency.mean, latency.p50, latency.p99, latency.p999].map { number($0, 1) }
            } else {
                cells.append(number(figures.mebibytesPerSecond, 0))
            }
            cells += [number(figures.processorTime, 1), row.allocations.map { number($0, 1) } ?? "-"]
            return cells
        }
        return table.text
    }

    /// `nil` where nothing was measured that could be compared.
    private var targets: String? {
        var table = TextTable(title: "ratio (\(results.processor))", head: ["rounds", "best", "target", ""])
        for target in Target.all {
            guard let rounds = target.ofRounds(in: results), let best = target.ofBest(in: results) else { continue }
            var cells = [target.title, number(rounds, 2), number(best, 2)]
            switch target.goal {
            case .atLeast(let limit): cells.append(">= \(number(limit, 2))")
            case .atMost(let limit): cells.append("<= \(number(limit, 2))")
            case nil: cells.append("")
            }
            cells.append(target.goal == nil ? "" : target.isMissed(in: results) ? "MISSED" : "met")
            table.rows.append(cells)
        }
        if let allocations = AllocationTarget.figure(in: results) {
            let goal = AllocationTarget.limit
            let verdict = AllocationTarget.isMissed(in: results) ? "MISSED" : "met"
            table.rows.append([AllocationTarget.title, number(allocations, 2), "", "< \(number(goal, 2))", verdict])
        }
        return table.rows.isEmpty ? nil : table.text
    }

    private func number(_ value: Double, _ digits: Int) -> String {
        String(format: "%.\(digits)f", value)
    }
}
