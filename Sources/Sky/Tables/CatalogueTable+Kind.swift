extension OutputKind {
    /// A catalogue, in any of its formats. Of the CSV format, which has no line about its program, the columns and the decimals of
    /// the first source must be those of a catalogue.
    package static let catalogue = OutputKind("catalogue", isFITS: true) { start in
        let first = start.bytes(0..<9)
        if first.elementsEqual("SIMPLE  =".utf8) {
            // The header of an image comes first in FITS_LDAC.
            return start.isMarked(hdus: 3) { cards in
                cards.contains { card in
                    ["CATALOG ", "LDAC_OBJECTS"].contains { card.hasPrefix("EXTNAME = '" + $0) }
                }
            }
        }
        guard let mark = first.first, [UInt8]("%#<{\"".utf8).contains(mark) || (0x41...0x5A).contains(mark) else {
            return false
        }
        switch mark {
        case UInt8(ascii: "#"):
            return start.begins(with: "# %ECSV 1.0\n")
                ? start.contains("\n# - CREATOR: \"skynode ") : CatalogueTable.beginsRegions(start.lines(4))
        case UInt8(ascii: "<"):
            return start.contains("\n<PARAM name=\"CREATOR\" datatype=\"char\" arraysize=\"*\" value=\"skynode ")
        case UInt8(ascii: "{"): return CatalogueTable.isObject(start.lines(1)[0])
        default: return CatalogueTable.isTable(start.lines(2))
        }
    }
}

extension CatalogueTable {
    /// The lines with which every region file begins, but for its names.
    fileprivate static func beginsRegions(_ lines: [Substring]) -> Bool {
        let own = "global color=cyan width=1 select=1 highlite=1 edit=1 move=1 delete=1 include=1 source=1"
        return lines.count > 3 && lines[0] == "# Region file format: DS9 version 4.1"
            && lines[1].hasSuffix(" sources") && lines[2] == own && ["icrs", "image"].contains(lines[3])
    }

    /// Whether a line is an object of the NDJSON format.
    fileprivate static func isObject(_ line: Substring) -> Bool {
        let fields = line.dropFirst().split(separator: ",\"")
        var isFirst = true
        for field in fields {
            guard let end = field.range(of: "\":") else { return false }
            let name = field[..<end.lowerBound].drop { isFirst && $0 == "\"" }
            guard form(of: name) != nil, field[end.upperBound...].first != " " else { return false }
            // The name of a file may contain anything, and is the last column.
            if name == "FILE" { break }
            isFirst = false
        }
        return !fields.isEmpty
    }

    /// Whether these are the names of columns and the values of a source.
    fileprivate static func isTable(_ lines: [Substring]) -> Bool {
        let names = lines[0].split(separator: ",", omittingEmptySubsequences: false)
        let forms = names.map(form)
        guard forms.allSatisfy({ $0 != nil }) else { return false }
        // Without a source there is nothing to lose.
        guard lines.count > 1, !lines[1].isEmpty else { return true }
        let fields = lines[1].split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count >= names.count else { return false }
        return zip(forms, fields).allSatisfy { form, field in
            func hasDecimals(_ decimals: Int) -> Bool {
                guard let point = field.lastIndex(of: ".") else { return decimals == 0 }
                return field[point...].dropFirst().count == decimals
            }
            if field.isEmpty { return true }
            return switch form {
            case .integer: Int(field) != nil
            case .position(let decimals), .measure(let decimals): Double(field) != nil && hasDecimals(decimals)
            case .scientific: Double(field) != nil
            case .text, nil: true
            }
        }
    }

    private static func form(of name: Substring) -> CatalogueColumn.Form? {
        if let form = forms[String(name)] { return form }
        // The columns of the second and later apertures end with a number.
        let stem = name.reversed().drop { $0.isNumber }.drop { $0 == "_" }.reversed()
        return stem.contains("A") ? forms[String(stem)] : nil
    }

    private static let forms = Dictionary(
        (CatalogueColumn.all(apertures: 1, withFile: true) + CatalogueColumn.further).map { ($0.name, $0.form) }
    ) { first, _ in first }
}
