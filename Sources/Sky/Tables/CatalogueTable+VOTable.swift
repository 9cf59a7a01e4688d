import Base

extension CatalogueTable {
    /// A VOTable 1.4 with its rows in TABLEDATA (IVOA recommendation of 2019, which has the schema of 1.3). A value that does
    /// not exist is NaN, or 0 in a column of integers.
    public func votable() -> [UInt8] {
        let columns = columns
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">
            <RESOURCE type="results">
            <COOSYS ID="\(Self.frame)" system="ICRS"/>

            """
        for scale in Set(sections.filter { $0.keywords.date != nil }.map(\.keywords.timeScale)).sorted() {
            text += "<TIMESYS ID=\"\(Self.time(scale))\" timescale=\"\(scale)\" refposition=\"UNKNOWN\"/>\n"
        }
        text += "<TABLE name=\"CATALOG\">\n"
        var dates = sections.filter { $0.keywords.date != nil }.map { Self.time($0.keywords.timeScale) }[...]
        for card in parameters {
            let (unit, meaning) = card.unitAndMeaning
            let type =
                switch card.value {
                case .text: "datatype=\"char\" arraysize=\"*\""
                case .integer, .unsigned: "datatype=\"long\""
                case .real: "datatype=\"double\""
                }
            text += "<PARAM name=\"\(card.keyword)\" \(type)\(CatalogueTable.attribute("unit", unit))"
            if card.comment == ImageKeywords.dateComment, let time = dates.popFirst() {
                text += " xtype=\"timestamp\" ref=\"\(time)\""
            }
            text += " value=\"\(CatalogueTable.escaped(card.text))\">"
            text += "<DESCRIPTION>\(CatalogueTable.escaped(meaning))</DESCRIPTION></PARAM>\n"
        }
        for column in columns {
            text += "<FIELD name=\"\(column.name)\" \(column.form.votable)"
            text += CatalogueTable.attribute("unit", column.unit) + CatalogueTable.attribute("ucd", column.ucd)
            if column.ucd.hasPrefix("pos.eq.") { text += CatalogueTable.attribute("ref", Self.frame) }
            text += "><DESCRIPTION>\(CatalogueTable.escaped(column.summary))</DESCRIPTION></FIELD>\n"
        }
        text += "<DATA><TABLEDATA>\n"
        var bytes = Array(text.utf8)
        let (open, close) = (Array("<TD>".utf8), Array("</TD>".utf8))
        for row in rows {
            bytes += "<TR>".utf8
            for column in columns {
                bytes += open
                let start = bytes.count
                if column.form == .text {
                    bytes += CatalogueTable.escaped(column.text(row)).utf8
                } else {
                    column.append(row, to: &bytes)
                    if bytes.count == start { bytes += (column.form == .integer ? "0" : "NaN").utf8 }
                }
                bytes += close
            }
            bytes += "</TR>\n".utf8
        }
        bytes += "</TABLEDATA></DATA>\n</TABLE>\n</RESOURCE>\n</VOTABLE>\n".utf8
        return bytes
    }

    /// The identifiers of the elements in the file that define the frame of coordinates and of times.
    private static let frame = "ICRS"
    private static func time(_ scale: String) -> String { "TIME_" + scale }

    private static func attribute(_ name: String, _ value: String) -> String {
        value.isEmpty ? "" : " \(name)=\"\(escaped(value))\""
    }

    /// The text with escapes for the characters that have a meaning in XML, without those that XML 1.0 does not allow, and
    /// without those that cannot be shown.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case _ where !PrintableText.holds(scalar) || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension CatalogueColumn.Form {
    /// The type of a field (VOTable 1.3, section 2.1).
    package var votable: String {
        switch self {
        case .integer: "datatype=\"int\""
        case .position: "datatype=\"double\""
        case .measure, .scientific: "datatype=\"float\""
        case .text: "datatype=\"unicodeChar\" arraysize=\"*\""
        }
    }
}
