import Base
import Transport

/// What has changed in an image since another one, in lines for people.
struct ChangeLines {
    var image: String
    var reference: String
    /// "4 appeared", and so on.
    var counts: [String]
    /// How well the two fit.
    var verdict: String
    /// Why next to nothing can be seen.
    var blindness: String?
    /// Why the comparison should not be relied upon.
    var doubts: [String]
    /// The number of tracks through three images or more, reported with the last image.
    var tracks = 0
    var files: [String]

    func lines(_ detail: ScanDetail) -> [String] {
        let name = PrintableText.of(image)
        // A blind comparison is reported in any case, because the command fails by it.
        guard detail > .errors else { return blindness.map { ["blind: \(name): \($0)"] } ?? [] }
        var lines = ["\(name) against \(PrintableText.of(reference)): \(counts.joined(separator: ", "))"]
        if detail > .line { lines.append(verdict) }
        if let blindness { lines.append("blind: \(name): \(blindness)") }
        if detail > .line {
            lines += doubts.map { "caution: \(name): \($0)" }
        } else if !doubts.isEmpty {
            lines[0] += "; \(doubts.count) caution\(doubts.count == 1 ? "" : "s") (-v prints them)"
        }
        if tracks > 0 { lines.append("\(tracks) track\(tracks == 1 ? "" : "s") through three or more images") }
        return detail > .line ? lines + files.map { "wrote \(PrintableText.of($0))" } : lines
    }
}
