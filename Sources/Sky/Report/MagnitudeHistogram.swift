import Glibc

/// The number of sources in each half magnitude, as a drawing.
package struct MagnitudeHistogram {
    private let first: Double
    private let counts: [Int]

    private static let width = 0.5
    /// There is a limit because a damaged result must not ask for a million bars.
    private static let mostBars = 80

    /// Returns `nil` if no source has a magnitude.
    package init?(_ table: CatalogueTable) {
        let values = table.rows.compactMap { $0.magnitude($0.source.fluxAuto) }.filter(\.isFinite).sorted()
        guard let brightest = values.first, let faintest = values.last else { return nil }
        let start = (brightest / Self.width).rounded(.down)
        guard brightest > -1e6, faintest < 1e6 else { return nil }
        let bars = min((faintest / Self.width).rounded(.down) - start + 1, Double(Self.mostBars))
        first = start * Self.width
        var counts = [Int](repeating: 0, count: Int(bars))
        for value in values {
            counts[min(max(0, Int((value / Self.width).rounded(.down) - start)), counts.count - 1)] += 1
        }
        self.counts = counts
    }

    /// Bars from the brightest to the faintest, as SVG.
    package var svg: String {
        let (bar, height, left, bottom) = (24, 220, 50, 40)
        let most = max(1, counts.max() ?? 1)
        let right = left + counts.count * bar
        var text = "<svg viewBox=\"0 0 \(right + 20) \(height + bottom + 10)\" width=\"\(right + 20)\" role=\"img\" "
        text += "aria-label=\"sources in each half magnitude\" font-family=\"sans-serif\" font-size=\"12\">\n"
        for (index, count) in counts.enumerated() {
            let length = Int((Double(count) / Double(most) * Double(height - 20)).rounded())
            let x = left + index * bar
            let low = DecimalText.fixed(first + Double(index) * Self.width, 1)
            text +=
                "<rect x=\"\(x)\" y=\"\(height - length)\" width=\"\(bar - 2)\" height=\"\(length)\" fill=\"#0072b2\">"
            text += "<title>from \(low): \(count)</title></rect>\n"
            // The labels are whole magnitudes, at most at every other bar.
            if index % 2 == 0 { text += "<text x=\"\(x)\" y=\"\(height + 15)\" text-anchor=\"middle\">\(low)</text>\n" }
        }
        text += "<line x1=\"\(left)\" y1=\"\(height)\" x2=\"\(right)\" y2=\"\(height)\" stroke=\"#222\"/>\n"
        text += "<text x=\"\(left - 6)\" y=\"24\" text-anchor=\"end\">\(most)</text>\n"
        text += "<text x=\"\(left - 6)\" y=\"\(height)\" text-anchor=\"end\">0</text>\n"
        text += "<text x=\"\((left + right) / 2)\" y=\"\(height + 34)\" text-anchor=\"middle\">MAG_AUTO</text>\n"
        return text + "</svg>\n"
    }
}
