/// What decides the numbers of a result besides its input: the release of the program, the libraries that measure, and the
/// processor's architecture. Results of two programs may stand in one catalogue if their arithmetic is equal.
///
/// It is one line of text, for example
/// `0.2, sep 1.2.0+f5e8342d, wcslib 7.12+d14c1f0c, cfitsio 4.2.0+e67c1a35, erfa 2.0.0+35a6508e, libm d55a0015, x86_64`, because
/// a node tells it to others, which compare it as a whole and show it to people.
package struct Arithmetic: Hashable, Codable, Sendable {
    /// The parts, with commas in between. What comes from elsewhere may be any text.
    package let text: String

    /// An arithmetic that a node told, or that is stored.
    package init(_ text: String) { self.text = text }

    package init(
        series: String = SkyNetVersion.series, libraries: [(name: String, version: String)], architecture: String
    ) {
        text = ([series] + libraries.map { "\($0.name) \($0.version)" } + [architecture]).joined(separator: ", ")
    }

    /// What is different about this arithmetic, for people, such as `sep 1.4.1; here sep 1.2.1`.
    package func difference(from own: Arithmetic) -> String {
        let (other, here) = (parts, own.parts)
        let theirs = other.filter { !here.contains($0) }
        let ours = here.filter { !other.contains($0) }
        // The parts may be the same in another order, or some may be missing.
        guard !theirs.isEmpty, !ours.isEmpty else { return "\(text); here \(own.text)" }
        return "\(theirs.joined(separator: ", ")); here \(ours.joined(separator: ", "))"
    }

    private var parts: [String] {
        text.split(separator: ",").map { part in String(part.drop { $0 == " " }) }
    }
}
