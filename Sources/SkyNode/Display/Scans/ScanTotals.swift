import Base
import SkyCore

/// What a night's scan came to, for its closing line and for a user who stops it before.
struct ScanTotals: Sendable {
    /// Images with a catalogue of all their sectors, and with one of those that are done.
    private(set) var whole = 0
    private(set) var partial = 0
    private(set) var sources = 0
    private(set) var leftOut = 0
    private(set) var failed: [String] = []
    /// Files that could not even be looked at.
    var refused = 0

    /// How many failed images the line names.
    private static let named = 5

    var images: Int { whole + partial }

    /// Counts one more image that has a catalogue.
    mutating func add(sources: Int, wholly: Bool) {
        if wholly { whole += 1 } else { partial += 1 }
        self.sources += sources
    }

    mutating func fail(_ name: String) { failed.append(name) }

    mutating func leaveOut() { leftOut += 1 }

    /// Whether a closing line says something that the last image's has not.
    var isMany: Bool { images + leftOut + failed.count + refused > 1 }

    /// - Parameter merged: the catalogues of all images.
    func line(_ duration: Duration, _ place: OutputPlace, merged: [String], style: TextStyle = .plain) -> String {
        var line =
            "\(images) image\(images == 1 ? "" : "s"): \(sources) source\(sources == 1 ? "" : "s") in "
            + "\(DurationText.seconds(duration)) s"
        if !failed.isEmpty {
            let names = failed.prefix(Self.named).map { PrintableText.of($0) }.joined(separator: ", ")
            let rest = failed.count > Self.named ? " and \(failed.count - Self.named) more" : ""
            line += "; " + style.apply(.bad, to: "\(failed.count) failed: \(names)\(rest)")
        }
        if refused > 0 { line += "; " + style.apply(.bad, to: "\(refused) could not be read") }
        if leftOut > 0 { line += "; \(leftOut) without a picture of the sky" }
        if case .folder(let folder, _) = place, images > 0 { line += "; results in \(PrintableText.of(folder))" }
        if !merged.isEmpty {
            line += "; all sources in \(merged.map { PrintableText.of($0) }.joined(separator: ", "))"
        }
        return line
    }

    /// The line about a batch that was stopped: what has been written, and what has not.
    func stopLine(_ plan: ScanPlan, keepsPartial: Bool) -> String {
        let done = "cancelled: \(whole) of \(plan.items.count) images were scanned"
        let merged =
            plan.output.merged(besides: plan.stems, isPartial: true).first
            .map { PrintableText.of($0.path) } ?? "standard output"
        if plan.output.isFile {
            // One catalogue is all that was requested.
            guard keepsPartial, images > 0, !plan.output.isStandardOutput else {
                let advice =
                    plan.output.isStandardOutput ? "" : "; --keep-partial writes those that are done to \(merged)"
                return "\(done), nothing was written\(advice)"
            }
            return "\(done); \(merged) has the sources of those"
        }
        guard images > 0 else { return "\(done), nothing was written" }
        var words = "\(done), and their files are in \(PrintableText.of(plan.output.folder))"
        if partial > 0 { words += ", with those of \(partial) scanned in part" }
        guard plan.merges else { return words }
        return words
            + (keepsPartial
                ? "; \(merged) has the sources of those"
                : "; no catalogue of all was written (--keep-partial writes one of those that are done, \(merged))")
    }
}
