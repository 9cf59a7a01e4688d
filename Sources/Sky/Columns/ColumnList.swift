import Base

/// The columns of a catalogue as a person writes them down.
public enum ColumnList {
    /// The largest number of bytes of a list, in a file or elsewhere.
    public static let sizeLimit = 64 << 10
    /// The names of the columns that a catalogue has only if the user asks for them.
    public static let further = CatalogueColumn.further.map(\.name).joined(separator: ", ")

    /// The columns of a list.
    ///
    /// - Parameters:
    ///   - text: Names with commas in between. With a `+` in front, they come in addition to the usual columns.
    ///   - apertures: The number of apertures, each of which has its own columns.
    /// - Throws: `.badInput` with the name that is not a column's.
    public static func names(_ text: String, apertures: Int) throws(SkyError) -> [String] {
        guard text.utf8.count <= sizeLimit else { throw SkyError(.badInput, "a list of columns too long to be one") }
        let adds = text.hasPrefix("+")
        let words = text.dropFirst(adds ? 1 : 0).split(separator: ",", omittingEmptySubsequences: false)
        let usual = CatalogueColumn.usual(apertures: apertures).map(\.name)
        var names = adds ? usual : []
        for word in words {
            let found = try columns(String(word), apertures: apertures)
            names += adds ? found.filter { !usual.contains($0) } : found
        }
        try CatalogueColumn.check(names, apertures: apertures)
        return names
    }

    /// The columns of a parameter file of SExtractor's: one name in each line, comments behind `#`.
    ///
    /// - Throws: `.badInput` with the line that is wrong.
    public static func names(file bytes: [UInt8], apertures: Int) throws(SkyError) -> [String] {
        guard bytes.count <= sizeLimit else { throw SkyError(.badInput, "a parameter file too long to be one") }
        var names: [String] = []
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let text = line.prefix { $0 != UInt8(ascii: "#") }
            let word = String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self)
            if word.isEmpty { continue }
            do {
                names += try columns(word, apertures: apertures)
            } catch {
                throw SkyError(.badInput, "line \(index + 1): \(error.message)")
            }
        }
        try CatalogueColumn.check(names, apertures: apertures)
        return names
    }

    /// The columns that a name stands for: a column of the apertures stands for one column each.
    private static func columns(_ word: String, apertures: Int) throws(SkyError) -> [String] {
        var name = word.uppercased()
        var count: Int?
        if name.hasSuffix(")"), let open = name.firstIndex(of: "(") {
            // The number in parentheses is a vector's length, as SExtractor writes it.
            count = Int(name[name.index(after: open)...].dropLast())
            guard let count, (1...apertures).contains(count) else {
                throw SkyError(
                    .badInput,
                    "\(FITSSniff.quoted(String(word.prefix(80)))): there \(apertures == 1 ? "is one aperture" : "are \(apertures) apertures")"
                )
            }
            name = String(name[..<open])
        }
        let isOfApertures = ["FLUX_APER", "FLUXERR_APER", "MAG_APER", "MAGERR_APER"].contains(name)
        guard isOfApertures || count == nil else {
            throw SkyError(
                .badInput, "\(FITSSniff.quoted(String(word.prefix(80)))): only apertures have several columns")
        }
        let names = isOfApertures ? (0..<(count ?? apertures)).map { $0 == 0 ? name : "\(name)_\($0)" } : [name]
        for name in names { try CatalogueColumn.check([name], apertures: apertures) }
        return names
    }
}
