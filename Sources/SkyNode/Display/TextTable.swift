/// Rows in columns that are as wide as their widest cell.
struct TextTable {
    let lines: [String]

    /// - Parameter rows: of as many cells each as the head has, or the first of them.
    init(head: [String]? = nil, rows: [[String]]) {
        let rows = (head.map { [$0] } ?? []) + rows
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        lines = rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
