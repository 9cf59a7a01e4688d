/// Rows in columns that are as wide as their widest cell.
struct TextTable {
    let lines: [String]

    /// - Parameter rows: each has as many cells as the head, or as the first row.
    init(head: [String]? = nil, rows: [[String]]) {
        let columns = (head ?? rows.first ?? []).indices.map { column in
            TableColumn(head?[column], rows.map { $0[column] })
        }
        self.init(columns)
    }

    /// A table that fits a terminal.
    ///
    /// - Parameters:
    ///   - steps: what is given up for room, one after the other; the least missed comes first.
    ///   - width: the columns of the terminal; `nil` for as many as the table takes.
    init(_ columns: [TableColumn], steps: [Step] = [], width: Int? = nil, style: TextStyle = .plain) {
        var columns = columns
        var steps = steps[...]
        while let width, TextTable.width(columns) > width, let step = steps.popFirst() { step.apply(to: &columns) }
        let rows = columns.first.map { $0.cells.indices } ?? 0..<0
        let head = columns.contains { $0.head != nil }
        let widths = columns.map(\.width)
        func line(_ cells: [(text: String, meaning: TextStyle.Meaning?)]) -> String {
            var (line, used) = ("", 0)
            let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
            for (place, cell) in cells.enumerated().prefix(last + 1) {
                let room = width.map { max(0, $0 - used) } ?? .max
                guard room > 0 else { break }
                let taken = cell.text.columns
                let padding = place == last ? 0 : widths[place] - taken + TextTable.gap
                line += style.apply(cell.meaning, to: TextTable.cut(cell.text, to: room))
                line += String(repeating: " ", count: min(padding, max(0, room - taken)))
                used += taken + padding
            }
            return line
        }
        var lines = head ? [line(columns.map { ($0.head ?? "", .heading) })] : []
        lines += rows.map { row in line(columns.map { ($0.cells[row], $0.meanings?[row]) }) }
        self.lines = lines
    }

    /// Something that a narrow table does without.
    enum Step {
        case drop(String)
        case shorten(String)
        /// Gives a last column of any length the room that the others leave, which is so much at least.
        case squeeze(String, to: Int)

        fileprivate func apply(to columns: inout [TableColumn]) {
            switch self {
            case .drop(let head): columns.removeAll { $0.head == head }
            case .shorten(let head):
                guard let place = columns.firstIndex(where: { $0.head == head }) else { return }
                columns[place].cells = columns[place].shortCells ?? columns[place].cells
                columns[place].head = columns[place].shortHead ?? head
            case .squeeze(let head, let least):
                guard let place = columns.firstIndex(where: { $0.head == head }) else { return }
                columns[place].least = least
            }
        }
    }

    /// Blanks between two columns.
    private static let gap = 2

    private static func width(_ columns: [TableColumn]) -> Int {
        columns.reduce(0) { $0 + min($1.width, $1.least ?? .max) } + gap * max(0, columns.count - 1)
    }

    private static func cut(_ text: String, to room: Int) -> String {
        text.columns <= room ? text : text.prefix(columns: max(0, room - 1)) + "…"
    }
}

/// A column of a table, and how it looks where there is little room.
struct TableColumn {
    var head: String?
    var cells: [String]
    var shortHead: String?
    var shortCells: [String]?
    /// The least width that it needs, where it takes the room that others leave.
    fileprivate var least: Int?
    /// What each cell says, for its colour.
    var meanings: [TextStyle.Meaning?]?

    init(
        _ head: String?, _ cells: [String], shortHead: String? = nil, shortCells: [String]? = nil,
        meanings: [TextStyle.Meaning?]? = nil
    ) {
        (self.head, self.cells, self.shortHead) = (head, cells, shortHead)
        (self.shortCells, self.meanings) = (shortCells, meanings)
    }

    fileprivate var width: Int { max(head?.columns ?? 0, cells.map(\.columns).max() ?? 0) }

    /// The beginnings of ids, of eight digits at least, that tell the ids apart.
    static func shortened(_ ids: [String]) -> [String] {
        let longest = ids.map(\.count).max() ?? 0
        let length = (8..<max(9, longest)).first { length in
            Set(ids.map { $0.prefix(length) }).count == Set(ids).count
        }
        return ids.map { String($0.prefix(length ?? longest)) }
    }
}
