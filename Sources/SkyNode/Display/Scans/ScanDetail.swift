import Base
import SkyCore
import Transport

/// How much a scan tells people of each image.
enum ScanDetail: Comparable {
    /// Only what went wrong.
    case errors
    /// One line for each image: a night's images would fill screens otherwise.
    case line
    /// The result, with the files that were written.
    case summary
    /// The summary, and every completed task.
    case everything

    init(isQuiet: Bool, isVerbose: Bool, images: Int) {
        self = isQuiet ? .errors : isVerbose ? .everything : images > 1 ? .line : .summary
    }

    /// The detail for an image that is one of several in its file.
    var ofOneInFile: ScanDetail { self == .summary ? .line : self }
}

/// What a night's scan came to.
struct ScanTotals {
    private(set) var images = 0
    private(set) var sources = 0
    private(set) var leftOut = 0
    private(set) var failed: [String] = []
    /// Files that could not even be looked at.
    var refused = 0

    /// How many failed images the line names.
    private static let named = 5

    mutating func add(sources: Int) {
        images += 1
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
}
