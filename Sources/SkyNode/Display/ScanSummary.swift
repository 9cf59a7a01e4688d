import Base
import Sky
import SkyCore
import Transport

/// What a scan came to, in lines for people.
struct ScanSummary {
    let lines: [String]

    init(
        item: ScanPlan.Item, plan: ScanPlan, report: JobReport, shares: [(node: String, sectors: Int)],
        catalogue: Catalogue, files: [String]
    ) {
        let sectors = (try? SectorGrid(info: catalogue.info, configuration: plan.configuration).sectors.count) ?? 0
        let scanned = shares.reduce(0) { $0 + $1.sectors }
        let truncated = catalogue.truncatedSources
        var lines = [
            "\(PrintableText.of(item.name)): \(catalogue.sources.count) sources in "
                + "\(DurationText.seconds(report.duration)) s",
            "\(scanned) of \(sectors) sector\(sectors == 1 ? "" : "s") scanned, \(report.retries) retried, "
                + "\(report.failed) failed",
        ]
        let rows = shares.map { share in
            // What no node did was done before.
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
        } else if report.failed > 0 {
            lines.append("The catalogue has gaps: the tasks named above failed.")
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
    }
}
