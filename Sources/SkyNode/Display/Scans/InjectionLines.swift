import Base
import Sky
import SkyCore
import Transport

/// What became of artificial stars, for people and for programs.
struct InjectionLines {
    private let report: InjectionReport
    private let rounds: [Injection]
    private let name: String
    private let files: [String]

    init(_ report: InjectionReport, rounds: [Injection], name: String, files: [String]) {
        self.report = report
        self.rounds = rounds
        self.name = name
        self.files = files
    }

    /// A table with a row for each range of magnitudes, and what it comes to.
    var text: [String] {
        var lines: [String] = []
        if let first = rounds.first {
            let scans = rounds.count > 1 ? " in \(rounds.count) scans" : ""
            lines.append(
                "\(PrintableText.of(name)): \(count) stars injected\(scans), \(first.profile.rawValue) of "
                    + "\(DurationText.fixed(first.fwhm, 2)) pixels FWHM, seed \(first.seed)")
        }
        let head = [
            "  magnitude", "stars", "found", "complete", "95 %", "auto", "scatter", "aperture", "scatter", "blended",
        ]
        lines += TextTable(head: head, rows: report.bins.map(row)).lines
        for (share, words) in [(0.9, "90 %"), (0.5, "50 %")] {
            let magnitude = report.magnitude(at: share).map { DurationText.fixed($0, 2) }
            lines.append("\(words) complete to magnitude \(magnitude ?? "-")")
        }
        if report.unseen > 0 {
            lines.append(
                "\(report.unseen) of the stars count nowhere: there are no pixels, or no results, at their places")
        }
        return lines + files.map { "wrote \(PrintableText.of($0))" }
    }

    /// What it comes to, in one line, for one image of many.
    var line: String {
        let limits = [(0.9, "90 %"), (0.5, "50 %")].map { share, words in
            "\(words) to magnitude \(report.magnitude(at: share).map { DurationText.fixed($0, 2) } ?? "-")"
        }
        return "\(PrintableText.of(name)): \(count) stars injected, complete: \(limits.joined(separator: ", "))"
    }

    private func row(_ bin: InjectionReport.Bin) -> [String] {
        func errors(_ errors: InjectionReport.Errors?) -> [String] {
            guard let errors else { return ["-", "-"] }
            let sign = errors.median < 0 ? "" : "+"
            return [sign + DurationText.fixed(errors.median, 3), DurationText.fixed(errors.scatter, 3)]
        }
        func percent(_ share: Double) -> String { DurationText.fixed(100 * share, 0) }
        let interval = bin.stars > 0 ? "\(percent(bin.interval.low)) to \(percent(bin.interval.high)) %" : "-"
        return [
            "  \(DurationText.fixed(bin.low, 2)) to \(DurationText.fixed(bin.high, 2))", "\(bin.stars)", "\(bin.found)",
            bin.completeness.map { percent($0) + " %" } ?? "-", interval,
        ] + errors(bin.automatic) + errors(bin.aperture) + ["\(bin.blendedFound) of \(bin.blended)"]
    }

    /// One object a line: each range of magnitudes, then the whole.
    func json() throws -> [String] {
        try report.bins.map { try JSONLine.encode(BinLine($0, subject: name)) }
            + [JSONLine.encode(whole)]
    }

    private var count: Int { rounds.reduce(0) { $0 + $1.count } }

    private var whole: Whole {
        Whole(
            subject: name, stars: count, rounds: rounds.count, unseen: report.unseen, seed: rounds.first?.seed ?? 0,
            fwhm: rounds.first?.fwhm ?? 0, profile: rounds.first?.profile.rawValue ?? "", radius: report.radius,
            magnitude50: report.magnitude(at: 0.5), magnitude90: report.magnitude(at: 0.9), files: files)
    }

    private struct BinLine: Encodable {
        var event = "injectionBin"
        var subject: String
        var brightest: Double
        var faintest: Double
        var stars: Int
        var found: Int
        var completeness: Double?
        var completenessLow: Double
        var completenessHigh: Double
        var blended: Int
        var blendedFound: Int
        var autoError: Double?
        var autoScatter: Double?
        var apertureError: Double?
        var apertureScatter: Double?

        init(_ bin: InjectionReport.Bin, subject: String) {
            self.subject = subject
            (brightest, faintest, stars, found) = (bin.low, bin.high, bin.stars, bin.found)
            completeness = bin.completeness
            (completenessLow, completenessHigh) = (bin.interval.low, bin.interval.high)
            (blended, blendedFound) = (bin.blended, bin.blendedFound)
            (autoError, autoScatter) = (bin.automatic?.median, bin.automatic?.scatter)
            (apertureError, apertureScatter) = (bin.aperture?.median, bin.aperture?.scatter)
        }
    }

    private struct Whole: Encodable {
        var event = "injection"
        var subject: String
        var stars: Int
        var rounds: Int
        var unseen: Int
        var seed: UInt64
        var fwhm: Double
        var profile: String
        var radius: Double
        var magnitude50: Double?
        var magnitude90: Double?
        var files: [String]
    }
}
