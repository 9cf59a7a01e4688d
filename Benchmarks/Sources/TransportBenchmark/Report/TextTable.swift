/// Columns as wide as their widest cell: the first to the left, numbers to the right.
struct TextTable {
    var title: String
    var head: [String]
    var rows: [[String]] = []

    var text: String {
        let all = [[title] + head] + rows
        let widths = all[0].indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            .joined(separator: "  ")
        }
        .joined(separator: "\n")
    }
}
