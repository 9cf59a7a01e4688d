/// A page that needs no other file.
struct HTMLPage {
    /// Also the heading; any text.
    var title: String
    /// Of the text, in widths of a letter.
    var width: Int
    /// Around the cells of tables.
    var cellPadding: String
    /// Further properties of the cells of tables.
    var cellStyle = ""
    /// Further lines of style.
    var style: [String]

    fileprivate static let beginning = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">

        """

    /// The whole of it, in HTML 5 and UTF-8.
    ///
    /// - Parameter body: what stands below the heading, in HTML.
    func html(_ body: String) -> [UInt8] { html(size: body.utf8.count) { $0 += body.utf8 } }

    /// The same, with a body that is appended piece by piece. Pictures make it large.
    ///
    /// - Parameter size: about how many bytes `body` appends.
    func html(size: Int, _ body: (inout [UInt8]) -> Void) -> [UInt8] {
        let escaped = CatalogueTable.escaped(title)
        let page = """
            \(Self.beginning)<title>\(escaped)</title>
            <style>
            body { font: 16px/1.5 sans-serif; max-width: \(width)em; margin: 2em auto; padding: 0 1em; color: #222; }
            h1 { overflow-wrap: anywhere; } table { border-collapse: collapse; }
            th, td { text-align: left; padding: \(cellPadding) 1em \(cellPadding) 0; vertical-align: top;\(cellStyle) }
            \(style.joined(separator: "\n"))
            </style>
            </head>
            <body>
            <h1>\(escaped)</h1>

            """
        var bytes: [UInt8] = []
        bytes.reserveCapacity(page.utf8.count + size + 64)
        bytes += page.utf8
        body(&bytes)
        bytes += "</body>\n</html>\n".utf8
        return bytes
    }
}

extension OutputKind {
    /// A page about an image or its changes.
    package static let page = OutputKind("page") { start in
        guard start.begins(with: HTMLPage.beginning) else { return false }
        let lines = start.lines(12)
        guard let style = lines.firstIndex(of: "<style>"), style + 2 < lines.count else { return false }
        return lines[style + 1].hasPrefix("body { font: 16px/1.5 sans-serif; max-width: ")
            && lines[style + 2] == "h1 { overflow-wrap: anywhere; } table { border-collapse: collapse; }"
    }
}
