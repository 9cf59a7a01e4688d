import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// Pages that are drawn over the last one.
struct ScreenPageTests {
    private let home = "\u{1B}[H"
    private let clear = "\u{1B}[K\n"
    private let rest = "\u{1B}[J"

    private func page(_ lines: [String], columns: Int = 10, rows: Int = 5) -> String {
        ScreenPage(lines, columns: columns, rows: rows).text
    }

    @Test func `each line is cleared after its end, and the screen below the last one`() {
        #expect(page(["one", "", "three"]) == home + "one" + clear + clear + "three" + clear + rest)
        #expect(page([]) == home + rest)
    }

    @Test func `lines without room above the last row are left out`() {
        #expect(
            page(["1", "2", "3", "4", "5", "6"]) == home + ["1", "2", "3", "4"].map { $0 + clear }.joined() + rest)
        #expect(page(["1", "2"], rows: 1) == home + "1" + clear + rest)
    }

    @Test func `a line that is wider than the screen has several rows, so that the page is not pushed up`() {
        let wide = "a line of 23 characters"
        #expect(page([wide, "next", "no room"]) == home + wide + clear + "next" + clear + rest)
        #expect(page(["head", "next", wide]) == home + "head" + clear + "next" + clear + rest, "no part of one")
    }

    @Test func `a line that fills its rows is not cleared at its end, to keep its last character`() {
        let full = "ten of ten"
        #expect(
            page([full, full + full, "next", "no room"]) == home + full + "\n" + full + full + "\n" + "next" + clear
                + rest)
    }

    @Test func `codes for colours take no room, and wide characters take two columns`() {
        let coloured = TextStyle(isColoured: true).apply(.good, to: "alive")
        #expect(page([coloured + "12345", "1", "2", "3"]).hasPrefix(home + coloured + "12345\n"))
        #expect(page([coloured + "12345", "1", "2", "3"]).hasSuffix("3" + clear + rest))
        #expect(
            page(["123456789星", "1", "2", "no room"]) == home + "123456789星" + clear + "1" + clear + "2" + clear + rest)
    }

    @Test func `a table with all its columns is drawn whole, in as many rows as it takes`() {
        let table = NodeTable(
            [
                NodeReport(
                    member: Member(node: NodeID(rawValue: 1), name: "dome-1", address: nil, since: .zero), status: nil,
                    isAnswering: true, age: .zero, roundTrip: nil, clockOffset: nil, speed: nil)
            ])
        let page = page(table.lines, columns: 40, rows: 24)
        for line in table.lines { #expect(line.count > 40 && page.contains(line)) }
    }
}
