import Foundation

/// The result of the scan of one image, as a page that needs no other file. It shows in pictures and numbers what was found,
/// and which nodes did the work. Reports of equal scans by other nodes differ only in the parts about nodes and time.
public struct ScanReport: Sendable {
    private let catalogue: Catalogue
    private let table: CatalogueTable
    private let runs: [SectorRun]
    private let facts: [(name: String, value: String)]
    private let others: [(name: String, file: String)]
    /// Where the time of the scan went; `nil` where that is not known.
    package var times: ScanTimes?

    /// - Parameters:
    ///   - table: The image's catalogue with the configuration that decided it.
    ///   - facts: Further facts for the reader, one in each line.
    ///   - others: Files beside the page that tell more, each with its subject.
    public init(
        _ catalogue: Catalogue, table: CatalogueTable, runs: [SectorRun], facts: [(name: String, value: String)] = [],
        others: [(name: String, file: String)] = []
    ) {
        self.catalogue = catalogue
        self.table = table
        self.runs = runs
        self.facts = facts
        self.others = others
    }

    /// The page, in HTML 5 and UTF-8.
    ///
    /// - Parameters:
    ///   - picture: The image with its sources, JPEG.
    ///   - map: The sectors, PNG.
    public func html(picture: [UInt8]?, map: [UInt8]?) -> [UInt8] {
        let page = HTMLPage(
            title: table.sections.map(\.image).joined(separator: ", "), width: 60, cellPadding: "0.15em",
            cellStyle: " overflow-wrap: anywhere;",
            style: [
                "td.number { text-align: right; font-variant-numeric: tabular-nums; }",
                "img { max-width: 100%; height: auto; } svg { max-width: 100%; height: auto; }",
                ".swatch { display: inline-block; width: 1em; height: 1em; vertical-align: middle; "
                    + "border: 1px solid #333; }",
                ScanTimes.style,
            ]
        )
        let pictures = (picture?.count ?? 0) + (map?.count ?? 0)
        return page.html(size: pictures / 3 * 4 + Self.textSize) { append(picture, map, to: &$0) }
    }

    /// The usual size of the page without the pictures.
    private static let textSize = 64 * 1024

    /// Appends what stands below the heading. The pictures make some megabytes of it.
    private func append(_ picture: [UInt8]?, _ map: [UInt8]?, to page: inout [UInt8]) {
        page += rows(summary).utf8
        if let picture {
            page += "<h2>The image</h2>\n".utf8
            Self.append(picture, "jpeg", "the image with its sources", to: &page)
            page += "<p>Blue ellipses are sources, orange ones carry a flag.</p>\n".utf8
        }
        for (name, file) in others { page += Self.link(name, file).utf8 }
        page += "<h2>Magnitudes</h2>\n".utf8
        page += (MagnitudeHistogram(table)?.svg ?? "<p>No source has a magnitude.</p>\n").utf8
        page += "<h2>Flags</h2>\n\(rows(flags))<h2>Sectors</h2>\n".utf8
        if let map {
            Self.append(map, "png", "the sectors", to: &page)
            page += "<p>The darker a sector, the longer it took. Grey: an earlier result. Hatched: not done.</p>\n".utf8
        }
        page += nodes.utf8
        if let times { page += "<h2>Time</h2>\n\(times.html)".utf8 }
        page += "<h2>Parameters</h2>\n".utf8
        let parameters = table.parameters.map { card in
            (card.keyword, card.text + (card.comment.isEmpty ? "" : " · " + card.comment))
        }
        page += rows(parameters).utf8
    }

    private var summary: [(String, String)] {
        let info = catalogue.info
        var lines = [
            ("sources", "\(catalogue.sources.count)"), ("image", "\(info.width) x \(info.height) pixels"),
        ]
        lines.append(
            ("stars' full width at half maximum", Seeing.words(catalogue.seeing(table.configuration))))
        if let reason = info.missingCoordinates { lines.append(("no coordinates", reason)) }
        if catalogue.truncatedSources > 0 {
            lines.append(("sources larger than what a sector may read", "\(catalogue.truncatedSources)"))
        }
        return lines + facts.map { ($0.name, $0.value) }
    }

    private var flags: [(String, String)] {
        let names = [
            (1, "biased by neighbours or bad pixels"), (2, "deblended"), (4, "saturated"), (8, "at the image's edge"),
            (16, "aperture incomplete"), (32, "too many branches to deblend"),
        ]
        let sources = catalogue.sources
        return [("none", "\(sources.count { $0.flags == 0 })")]
            + names.map { bit, name in ("\(bit) · \(name)", "\(sources.count { $0.flags & bit != 0 })") }
    }

    private var nodes: String {
        let names = SectorMap.nodes(of: runs)
        let all = names + (runs.contains { $0.node.isEmpty } ? [""] : [])
        guard !all.isEmpty else { return "<p>No sector is done.</p>\n" }
        var text = "<table>\n<tr><th>node</th><th>sectors</th><th>detections</th><th>mean time</th></tr>\n"
        for name in all {
            let own = runs.filter { $0.node == name }
            let mean = own.reduce(Duration.zero) { $0 + $1.duration } / max(1, own.count)
            let (seconds, attoseconds) = mean.components
            let time = Double(seconds) + Double(attoseconds) * 1e-18
            text += "<tr><td><span class=\"swatch\" style=\"background: \(SectorMap.css(name, among: names))\"></span> "
            text += name.isEmpty ? "earlier results" : Self.escaped(name)
            text += "</td><td class=\"number\">\(own.count)</td>"
            text += "<td class=\"number\">\(own.reduce(0) { $0 + $1.sources })</td>"
            text += "<td class=\"number\">\(name.isEmpty ? "" : DecimalText.fixed(time, 3) + " s")</td></tr>\n"
        }
        text += "</table>\n"
        let detections = runs.reduce(0) { $0 + $1.sources }
        guard detections > catalogue.sources.count else { return text }
        return text
            + "<p>The \(detections) detections are more than the \(catalogue.sources.count) sources: they are counted "
            + "before what two sectors saw at their common edge is taken once, and before what CLEAN finds to be no more "
            + "than a bright neighbour's light is left out.</p>\n"
    }

    private func rows(_ lines: [(String, String)]) -> String {
        let cells = lines.map { "<tr><th>\(Self.escaped($0.0))</th><td>\(Self.escaped($0.1))</td></tr>\n" }
        return "<table>\n" + cells.joined() + "</table>\n"
    }

    private static func append(_ file: [UInt8], _ type: String, _ description: String, to page: inout [UInt8]) {
        page += "<p><img alt=\"\(description)\" src=\"data:image/\(type);base64,".utf8
        for start in stride(from: 0, to: file.count, by: piece) {
            page += Data(file[start..<min(start + piece, file.count)]).base64EncodedData()
        }
        page += "\"></p>\n".utf8
    }

    /// The number of bytes that are encoded at once: small, so that the memory for them stays in use, and a multiple of three,
    /// so that the pieces make one text.
    private static let piece = 3 << 13

    /// A link to a file. HTML needs the same escapes as XML.
    private static func link(_ name: String, _ file: String) -> String {
        let place = file.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting([":"])) ?? ""
        return "<p><a href=\"\(escaped(place))\">\(escaped(name))</a></p>\n"
    }

    private static func escaped(_ text: String) -> String { CatalogueTable.escaped(text) }
}
