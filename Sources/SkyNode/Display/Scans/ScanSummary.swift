import Base
import Sky
import SkyCore
import Transport

/// What a scan came to, in lines for people.
struct ScanSummary {
    let lines: [String]
    /// All of it in one line, for one image of many.
    let line: String

    /// What failed tasks mean for the files of a scan.
    struct Losses {
        /// Sectors or parts of large objects are missing in the catalogue.
        let hasGaps: Bool
        /// The picture was asked for and is missing, and with it the map of the sectors and the page.
        let lacksPicture: Bool

        /// - Parameters:
        ///   - wantsPicture: whether the job was to draw one.
        ///   - hasPicture: whether it was fetched.
        init(_ report: JobReport, wantsPicture: Bool, hasPicture: Bool) {
            lacksPicture = report.state == .done && report.failed > 0 && wantsPicture && !hasPicture
            hasGaps = report.state != .done || report.failed > (lacksPicture ? 1 : 0)
        }
    }

    /// - Parameter hasPicture: whether there is a picture of the image.
    init(
        item: ScanItem, plan: ScanPlan, report: JobReport, shares: [(node: String, sectors: Int)],
        catalogue: Catalogue, hasPicture: Bool, files: [String]
    ) {
        let losses = Losses(
            report, wantsPicture: item.request.kind.scan?.pictureSide != nil, hasPicture: hasPicture)
        let sectors = (try? SectorGrid(info: catalogue.info, configuration: plan.configuration).sectors.count) ?? 0
        let scanned = shares.reduce(0) { $0 + $1.sectors }
        let truncated = catalogue.truncatedSources
        var lines = [
            ScanSummary.result(item.name, catalogue.sources.count, report.duration),
            "\(scanned) of \(sectors) sector\(sectors == 1 ? "" : "s") scanned, \(report.retries) retried, "
                + "\(report.failed) failed",
        ]
        let rows = shares.map { share in
            // Sectors that no node did were done before.
            ["  " + (share.node.isEmpty ? "earlier results" : PrintableText.of(share.node)), "\(share.sectors)"]
        }
        lines += TextTable(rows: rows).lines
        lines.append("width of the stars: " + Seeing.words(catalogue.seeing(plan.configuration)))
        if plan.configuration.filter == .seeing {
            lines.append(
                catalogue.filter.fwhm.map { "width of the filter: \(DurationText.fixed($0, 2)) pixels" }
                    ?? "too few stars to fit the filter to: the default filter was used; --seeing names their width")
        }
        if report.state != .done {
            lines.append("The catalogue has gaps: the scan did not come to its end.")
        } else if losses.hasGaps {
            lines.append("The catalogue has gaps: the tasks named above failed.")
        }
        if losses.lacksPicture {
            lines.append(
                "No picture, no map of the sectors and no page were written: the picture failed, as said above.")
        }
        if let reason = catalogue.info.missingCoordinates {
            lines.append("no coordinates: \(PrintableText.of(reason))")
        }
        if truncated > 0 {
            lines.append(
                "\(truncated) source\(truncated == 1 ? " reaches" : "s reach") beyond a sector's margin; a larger "
                    + "--margin or --sector measures them whole")
        }
        if let truth = plan.truth { lines += TruthReport(sources: catalogue.sourcesInFrame, truth: truth).lines }
        lines += files.map { "wrote \(PrintableText.of($0))" }
        self.lines = lines
        line = ScanSummary.line(
            lines[0], report, losses, hasCoordinates: catalogue.info.missingCoordinates == nil)
    }

    static func result(_ name: String, _ sources: Int, _ duration: Duration) -> String {
        "\(PrintableText.of(name)): \(sources) sources in \(DurationText.seconds(duration)) s"
    }

    /// The first line, with what is out of the ordinary.
    static func line(_ result: String, _ report: JobReport, _ losses: Losses, hasCoordinates: Bool) -> String {
        var notes: [String] = []
        if report.retries > 0 { notes.append("\(report.retries) retried") }
        if report.failed > 0 { notes.append("\(report.failed) failed") }
        if losses.hasGaps { notes.append("the catalogue has gaps") }
        if losses.lacksPicture { notes.append("no picture and no page") }
        if !hasCoordinates { notes.append("no coordinates") }
        return ([result] + notes).joined(separator: ", ")
    }
}
