import Base

extension CatalogueTable {
    /// Writes the catalogue as a FITS binary table in the first extension, `CATALOG`, with the parameters in its header;
    /// TOPCAT, astropy and STILTS read it as it is. A value that does not exist is NaN.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func writeFITS(to path: String) throws(SkyError) { try write(.fits, to: path) }

    func writeFITS(to path: String, among files: StagedFiles) throws(SkyError) {
        try FITSWriter.write(to: path, as: .catalogue, among: files) { writer in append(to: &writer, name: "CATALOG") }
    }

    /// Writes a pair of tables for each image: its header in one cell, `LDAC_IMHEAD`, and its sources, `LDAC_OBJECTS`
    /// (SExtractor's manual, "FITS_LDAC").
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func writeLDAC(to path: String) throws(SkyError) { try write(.ldac, to: path) }

    func writeLDAC(to path: String, among files: StagedFiles) throws(SkyError) {
        try FITSWriter.write(to: path, as: .catalogue, among: files) { writer in
            for section in sections {
                // SCAMP expects an END card at the end of the header.
                let cards = (section.header + ["END"]).map(Self.padded)
                writer.table(
                    rows: 1, names: ["Field Header Card"], forms: ["\(80 * cards.count)A"], units: [""],
                    name: "LDAC_IMHEAD")
                writer.card(FITSCard("TDIM1", .text("(80, \(cards.count))"), ""))
                // cfitsio takes a cell with dimensions as that many strings.
                writer.column(1, cards)
                only(section).append(to: &writer, name: "LDAC_OBJECTS")
            }
        }
    }

    /// The card as a text of exactly 80 characters.
    private static func padded(_ card: String) -> String {
        let text = card.prefix(80)
        return text + String(repeating: " ", count: 80 - text.count)
    }

    private func append(to writer: inout FITSWriter, name: String) {
        let (columns, rows) = (columns, rows)
        let width = max(1, sections.map { $0.image.utf8.count }.max() ?? 1)
        writer.table(
            rows: rows.count, names: columns.map(\.name),
            forms: columns.map { $0.form == .text ? "\(width)A" : $0.form.fits }, units: columns.map(\.unit),
            name: name)
        for (index, column) in columns.enumerated() {
            writer.card(FITSCard("TCOMM\(index + 1)", .text(column.summary), ""))
            if !column.ucd.isEmpty { writer.card(FITSCard("TUCD\(index + 1)", .text(column.ucd), "")) }
        }
        for card in parameters { writer.card(card) }
        let size = columns.reduce(0) { $0 + ($1.form == .text ? width : $1.form.size) }
        // Row by row and not column by column: cfitsio reads and writes the whole table again for each column.
        for start in stride(from: 0, to: rows.count, by: Self.rowsAtOnce) {
            let part = rows[start..<min(start + Self.rowsAtOnce, rows.count)]
            var bytes: [UInt8] = []
            bytes.reserveCapacity(part.count * size)
            for row in part {
                for index in columns.indices {
                    switch columns[index].form {
                    case .integer:
                        Self.append(UInt32(bitPattern: Self.integer(columns[index].value(row))), to: &bytes)
                    case .position: Self.append(Self.real(columns[index].value(row)).bitPattern, to: &bytes)
                    case .measure, .scientific:
                        Self.append(Float(Self.real(columns[index].value(row))).bitPattern, to: &bytes)
                    case .text: bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: width))
                    }
                }
            }
            writer.rows(bytes, from: start)
        }
        for (index, column) in columns.enumerated() where column.form == .text {
            writer.column(index + 1, rows.map { column.text($0) })
        }
    }

    /// The number of rows that are encoded at once.
    private static let rowsAtOnce = 4096

    /// Appends a number as FITS has it, with the highest byte first.
    private static func append(_ bits: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func real(_ value: Double?) -> Double {
        guard let value, value.isFinite else { return .nan }
        return value
    }

    private static func integer(_ value: Double?) -> Int32 {
        guard let value, value.isFinite else { return 0 }
        return Int32(min(max(value, Double(Int32.min)), Double(Int32.max)))
    }
}

extension CatalogueColumn.Form {
    /// The size of a number in bytes.
    fileprivate var size: Int {
        switch self {
        case .integer, .measure, .scientific: 4
        case .position: 8
        case .text: 0
        }
    }

    /// `TFORM` of the column (FITS standard 4.0, table 18).
    fileprivate var fits: String {
        switch self {
        case .integer: "1J"
        case .position: "1D"
        case .measure, .scientific: "1E"
        case .text: "1A"
        }
    }
}
