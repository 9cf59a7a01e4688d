import Base

/// The formats that have one line for each source.
extension CatalogueTable {
    /// Comma-separated values with a line of SExtractor's column names (RFC 4180, but lines end in a line feed). A value that
    /// does not exist is an empty field.
    public func csv() -> [UInt8] {
        let columns = columns
        var bytes = Array(columns.map(\.name).joined(separator: ",").utf8)
        bytes.append(UInt8(ascii: "\n"))
        let rows = rows
        bytes.reserveCapacity(bytes.count + rows.count * 320)
        for row in rows {
            for index in columns.indices {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                columns[index].append(row, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// CSV behind a header of units, types, explanations and parameters (astropy's APE 6, "Enhanced Character Separated
    /// Values"). A value that does not exist is an empty field, which astropy reads as masked.
    public func ecsv() -> [UInt8] {
        let columns = columns
        var lines = ["%ECSV 1.0", "---", "delimiter: ','", "datatype:"]
        for column in columns {
            let unit = column.unit.isEmpty ? "" : ", unit: \(CatalogueTable.quoted(column.unit))"
            lines.append(
                "- {name: \(column.name)\(unit), datatype: \(column.form.ecsv), "
                    + "description: \(CatalogueTable.quoted(column.summary))}")
        }
        lines.append("meta: !!omap")
        for card in parameters {
            let value =
                switch card.value {
                case .text(let text): CatalogueTable.quoted(text)
                case .integer, .unsigned, .real: card.text
                }
            lines.append("- \(card.keyword): \(value)")
        }
        lines.append("schema: astropy-2.0")
        var bytes = Array(lines.map { "# \($0)\n" }.joined().utf8)
        bytes += csv()
        return bytes
    }

    /// One JSON object in each line (ndjson.org), with numbers as in the CSV file. A value that does not exist is null.
    public func ndjson() -> [UInt8] {
        let columns = columns
        let keys = columns.map { Array("\"\($0.name)\":".utf8) }
        var bytes: [UInt8] = []
        for row in rows {
            bytes.append(UInt8(ascii: "{"))
            for (index, column) in columns.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += keys[index]
                let start = bytes.count
                if column.form == .text {
                    bytes += CatalogueTable.quoted(column.text(row)).utf8
                } else {
                    column.append(row, to: &bytes)
                }
                if bytes.count == start { bytes += "null".utf8 }
            }
            bytes += "}\n".utf8
        }
        return bytes
    }

    /// A string of JSON, which is one of YAML too (YAML 1.2, section 1.3).
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where !PrintableText.holds(scalar):
                for unit in String(scalar).utf16 { result += "\\u" + HexText.of(unit) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension CatalogueColumn.Form {
    /// The type's name in ECSV, which is numpy's.
    package var ecsv: String {
        switch self {
        case .integer: "int32"
        case .position: "float64"
        case .measure, .scientific: "float32"
        case .text: "string"
        }
    }
}
