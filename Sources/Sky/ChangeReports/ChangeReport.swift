import Foundation

/// The changes between two images, as a page that needs no other file. It shows each change with the old image, the new image
/// and the difference.
public struct ChangeReport: Sendable {
    private let table: ChangeTable
    private let cutouts: [Int: EpochCutouts]
    private let tracks: [MoverTrack]

    /// The largest number of changes that are drawn, the strongest first. A page with more would be too long to read.
    public static let mostPictures = 300

    /// - Parameters:
    ///   - cutouts: The pictures of rows of the table, by the row's place there.
    ///   - tracks: The tracks of moving sources in three or more images.
    public init(_ table: ChangeTable, cutouts: [Int: EpochCutouts], tracks: [MoverTrack] = []) {
        (self.table, self.cutouts, self.tracks) = (table, cutouts, tracks)
    }

    /// The page, in HTML 5 and UTF-8.
    public var html: [UInt8] {
        var page = "<table>\n"
        for fact in summary + table.facts {
            page +=
                "<tr><th>\(CatalogueTable.escaped(fact.name))</th><td>\(CatalogueTable.escaped(fact.value))</td></tr>\n"
        }
        page += "</table>\n"
        if !tracks.isEmpty { page += trackRows }
        if !cutouts.isEmpty { page += "<p>\(Self.legend)</p>\n" }
        for kind in EpochChange.Kind.allCases where table.count(kind) > 0 { page += section(kind) }
        return HTMLPage(
            title: "\(table.image) against \(table.reference)", width: 70, cellPadding: "0.3em",
            style: ["img { width: 200px; height: 200px; image-rendering: pixelated; }"]
        ).html(page)
    }

    private static let legend =
        "Reference and image have the same greys. The difference is image less reference, brought to the same seeing, in units of "
        + "its noise: grey is none, white from \(Int(NoiseGreys.reach)) times the noise brighter, black as much fainter, "
        + "blue not compared."

    private var summary: [(name: String, value: String)] {
        EpochChange.Kind.allCases.map { ($0.rawValue, "\(table.count($0))") }
    }

    private var trackRows: String {
        var text = "<h2>Tracks</h2>\n<table>\n<tr><th>track</th><th>rate</th><th>direction</th><th>images</th></tr>\n"
        for track in tracks {
            let cells = [
                "\(track.number)", DecimalText.fixed(track.rate, 3), DecimalText.fixed(track.positionAngle, 1) + "°",
                track.epochs.map { $0 == 0 ? "reference" : "\($0)" }.joined(separator: ", "),
            ]
            text += "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>\n"
        }
        return text + "</table>\n"
    }

    private func section(_ kind: EpochChange.Kind) -> String {
        var text = "<h2>\(kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst())</h2>\n<table>\n"
        text += "<tr><th>reference</th><th>image</th><th>difference</th><th></th></tr>\n"
        let rows = table.comparison.changes.enumerated().filter { $0.element.kind == kind }
        for (index, change) in rows.sorted(by: { abs($0.element.significance) > abs($1.element.significance) }) {
            text += "<tr>" + pictures(index) + "<td>" + words(index, change) + "</td></tr>\n"
        }
        return text + "</table>\n"
    }

    private func pictures(_ index: Int) -> String {
        let cutouts = cutouts[index]
        return [(cutouts?.old, "reference"), (cutouts?.new, "image"), (cutouts?.difference, "difference")].map {
            bytes, name in
            guard let bytes else { return "<td></td>" }
            return
                "<td><img alt=\"\(name) \(index + 1)\" src=\"data:image/png;base64,\(Data(bytes).base64EncodedString())\"></td>"
        }.joined()
    }

    private func words(_ index: Int, _ change: EpochChange) -> String {
        var lines = ["<b>\(index + 1)</b> at \(DecimalText.fixed(change.x, 2)), \(DecimalText.fixed(change.y, 2))"]
        if let alpha = change.alpha, let delta = change.delta {
            lines.append("\(DecimalText.fixed(alpha, 6))°, \(DecimalText.fixed(delta, 6))°")
        }
        lines.append("\(DecimalText.fixed(change.significance, 1)) sigma" + (change.isOnSource ? ", on a source" : ""))
        for (name, flux, error) in [
            ("was", change.fluxOld, change.fluxOldError), ("is", change.fluxNew, change.fluxNewError),
        ] {
            guard let magnitude = EpochChange.magnitude(flux, error, zeroPoint: table.zeroPoint) else { continue }
            let value = DecimalText.fixed(magnitude.value, 2)
            lines.append(
                name
                    + (magnitude.error.map { " \(value) ± \(DecimalText.fixed($0, 2)) mag" }
                        ?? " fainter than \(value) mag"))
        }
        if let rate = change.rate, let angle = change.positionAngle {
            lines.append(
                "\(DecimalText.fixed(rate, 3)) towards \(DecimalText.fixed(angle, 1))°"
                    + (change.track.map { ", track \($0)" } ?? ""))
        }
        return lines.joined(separator: "<br>")
    }
}
