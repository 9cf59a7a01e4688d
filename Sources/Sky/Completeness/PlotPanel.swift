import Glibc

/// One pair of axes of a drawing, in SVG: the places of values, with the lines and numbers that show them.
struct PlotPanel {
    /// The place in the drawing, in the drawing's units.
    let left: Double
    let top: Double
    let width: Double
    let height: Double
    let x: ClosedRange<Double>
    let y: ClosedRange<Double>

    func across(_ value: Double) -> Double {
        left + (value - x.lowerBound) / (x.upperBound - x.lowerBound) * width
    }

    /// Values grow upwards; a value outside the axis is drawn at its end.
    func up(_ value: Double) -> Double {
        let inside = min(max(value, y.lowerBound), y.upperBound)
        return top + (y.upperBound - inside) / (y.upperBound - y.lowerBound) * height
    }

    /// The frame with ticks, numbers and the name of the upward axis. Without `below`, there are no numbers below the frame,
    /// because another panel follows there.
    ///
    /// - Parameter below: The name of the axis to the right; `nil` for none.
    func axes(_ upwards: String, below: String?) -> String {
        var text = "<g stroke=\"#ddd\" stroke-width=\"1\">\n"
        let (columns, rows) = (Self.ticks(x, about: 8), Self.ticks(y, about: 6))
        for value in columns.values { text += line(across(value), top, across(value), top + height) }
        for value in rows.values { text += line(left, up(value), left + width, up(value)) }
        text += "</g>\n<rect x=\"\(Self.text(left))\" y=\"\(Self.text(top))\" width=\"\(Self.text(width))\" "
        text += "height=\"\(Self.text(height))\" fill=\"none\" stroke=\"#222\"/>\n"
        for value in rows.values {
            text += label(DecimalText.fixed(value, rows.decimals), left - 6, up(value) + 4, "end")
        }
        let middle = Self.text(top + height / 2)
        text += "<text transform=\"translate(\(Self.text(left - 52)) \(middle)) rotate(-90)\" "
        text += "text-anchor=\"middle\">\(upwards)</text>\n"
        guard let below else { return text }
        for value in columns.values {
            text += label(DecimalText.fixed(value, columns.decimals), across(value), top + height + 17, "middle")
        }
        return text + label(below, left + width / 2, top + height + 38, "middle")
    }

    /// A vertical bar from one value to another, with short ends.
    func bar(_ place: Double, _ low: Double, _ high: Double) -> String {
        let x = across(place)
        return line(x, up(low), x, up(high)) + line(x - 3, up(low), x + 3, up(low))
            + line(x - 3, up(high), x + 3, up(high))
    }

    func dot(_ place: Double, _ value: Double) -> String {
        "<circle cx=\"\(Self.text(across(place)))\" cy=\"\(Self.text(up(value)))\" r=\"3.5\" stroke=\"none\"/>\n"
    }

    func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" x2=\"\(Self.text(x2))\" y2=\"\(Self.text(y2))\"/>\n"
    }

    func label(_ words: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
        "<text x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" text-anchor=\"\(anchor)\">\(words)</text>\n"
    }

    /// Round numbers in a range, 1, 2 or 5 times a power of ten apart, and the decimals that they need.
    static func ticks(_ range: ClosedRange<Double>, about count: Double) -> (values: [Double], decimals: Int) {
        let span = range.upperBound - range.lowerBound
        guard span > 0, span.isFinite, count >= 1 else { return ([], 0) }
        let power = log10(span / count).rounded(.down)
        let steps = [1, 2, 5, 10].map { $0 * pow(10, power) }
        let step = steps.first { span / $0 <= count } ?? span
        var values: [Double] = []
        // There are at most `count` + 1 ticks, because a tiny step must not ask for millions.
        var tick = (range.lowerBound / step - 1e-9).rounded(.up)
        while tick * step <= range.upperBound + 1e-9 * step, values.count <= Int(count) {
            // This avoids minus zero.
            values.append(tick == 0 ? 0 : tick * step)
            tick += 1
        }
        return (values, Int(min(max(0, (1e-9 - log10(step)).rounded(.up)), 6)))
    }

    private static func text(_ value: Double) -> String { DecimalText.fixed(value, 1) }
}
