/// The completeness and the errors of magnitudes against the magnitude, as a drawing that any browser can show (SVG 1.1).
package struct InjectionPlot: Sendable {
    private let report: InjectionReport
    private let title: String

    /// - Parameter title: The name of the image that was scanned.
    package init(_ report: InjectionReport, title: String) {
        self.report = report
        self.title = title
    }

    /// Blue and orange differ for colour-blind readers as well (Okabe and Ito 2008, "Color Universal Design").
    private static let colours = (automatic: "#0072b2", aperture: "#d55e00")
    /// The errors of a bin are drawn from this number of stars on.
    private static let leastStars = 3
    private static let size = (width: 720.0, height: 640.0)

    /// The beginning of every file.
    fileprivate static let head: String = {
        let (width, height) = (Int(size.width), Int(size.height))
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        text += "viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\" "
        text += "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
        return text + "<rect width=\"\(width)\" height=\"\(height)\" fill=\"#fff\"/>\n"
    }()

    /// The file, in UTF-8.
    package var svg: [UInt8] {
        // If all stars have one brightness, they have no range of their own.
        let low = report.bins.first?.low ?? 0
        let high = report.bins.last?.high ?? low
        let x = high > low ? low...high : low - 0.5...low + 0.5
        let reach = errorReach
        let shares = PlotPanel(left: 76, top: 44, width: 620, height: 270, x: x, y: 0...1.05)
        let errors = PlotPanel(left: 76, top: 336, width: 620, height: 240, x: x, y: -reach...reach)
        var text = Self.head
        text += shares.label(CatalogueTable.escaped(title), 76, 28, "start")
        text += shares.axes("share of stars found", below: nil) + curve(shares) + levels(shares)
        text += errors.axes("measured − true magnitude", below: "true magnitude")
        text += "<g stroke=\"#222\">" + errors.line(76, errors.up(0), 696, errors.up(0)) + "</g>\n"
        text += points(errors, \.automatic, Self.colours.automatic, shift: -4)
        text += points(errors, \.aperture, Self.colours.aperture, shift: 4)
        text += legend(errors)
        return Array((text + "</svg>\n").utf8)
    }

    /// The range of the axis of errors: median and scatter of all bins, at least a tenth, at most two magnitudes.
    private var errorReach: Double {
        let all = report.bins.filter { $0.found >= Self.leastStars }.flatMap { [$0.automatic, $0.aperture] }
        let most = all.compactMap { $0.map { abs($0.median) + $0.scatter } }.max() ?? 0
        return min(max(1.1 * most, 0.1), 2)
    }

    private func curve(_ panel: PlotPanel) -> String {
        let bins = report.bins.filter { $0.stars > 0 }
        let points = bins.map { bin in
            "\(DecimalText.fixed(panel.across(middle(bin)), 1)),\(DecimalText.fixed(panel.up(bin.completeness ?? 0), 1))"
        }
        var text = "<g stroke=\"\(Self.colours.automatic)\" fill=\"\(Self.colours.automatic)\">\n"
        text += "<polyline points=\"\(points.joined(separator: " "))\" fill=\"none\"/>\n"
        for bin in bins {
            text += panel.bar(middle(bin), bin.interval.low, bin.interval.high)
            text += panel.dot(middle(bin), bin.completeness ?? 0)
        }
        return text + "</g>\n"
    }

    /// The lines at which half and nine tenths of the stars are found.
    private func levels(_ panel: PlotPanel) -> String {
        var text = ""
        for share in [0.5, 0.9] {
            guard let magnitude = report.magnitude(at: share) else { continue }
            let (x, y) = (panel.across(magnitude), panel.up(share))
            text += "<g stroke=\"#222\" stroke-dasharray=\"4 3\">" + panel.line(panel.left, y, x, y)
            text += panel.line(x, y, x, panel.top + panel.height) + "</g>\n"
            let words = "\(Int(share * 100)) %: \(DecimalText.fixed(magnitude, 2))"
            // The label is on the right, where the curve is below it, unless there is no room at the drawing's edge.
            let isLeft = x > panel.left + panel.width - 90
            text += panel.label(words, isLeft ? x - 6 : x + 6, isLeft ? y + 16 : y - 6, isLeft ? "end" : "start")
        }
        return text
    }

    private func points(
        _ panel: PlotPanel, _ errors: KeyPath<InjectionReport.Bin, InjectionReport.Errors?>, _ colour: String,
        shift: Double
    ) -> String {
        var text =
            "<g transform=\"translate(\(DecimalText.fixed(shift, 0)) 0)\" stroke=\"\(colour)\" fill=\"\(colour)\">\n"
        for bin in report.bins where bin.found >= Self.leastStars {
            guard let error = bin[keyPath: errors] else { continue }
            text += panel.bar(middle(bin), error.median - error.scatter, error.median + error.scatter)
            text += panel.dot(middle(bin), error.median)
        }
        return text + "</g>\n"
    }

    private func legend(_ panel: PlotPanel) -> String {
        let y = panel.top + 18
        return "<g fill=\"\(Self.colours.automatic)\">"
            + panel.label("● FLUX_AUTO: median and scatter", panel.left + 10, y, "start")
            + "</g>\n<g fill=\"\(Self.colours.aperture)\">" + panel.label("● FLUX_APER", panel.left + 250, y, "start")
            + "</g>\n"
    }

    private func middle(_ bin: InjectionReport.Bin) -> Double { (bin.low + bin.high) / 2 }
}

extension OutputKind {
    /// The plot of artificial stars.
    package static let injectionPlot = OutputKind("plot of artificial stars") { start in
        // An earlier version draws the same, so the beginning and the axis tell it from other drawings.
        start.begins(with: InjectionPlot.head) && start.contains("share of stars found")
    }
}
