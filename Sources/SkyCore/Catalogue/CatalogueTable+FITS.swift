extension CatalogueTable {
    /// Writes the catalogue as a FITS binary table in the first extension, `CATALOG`, with the configuration in its
    /// header; TOPCAT, astropy and STILTS read it as it is. A value that does not exist is NaN.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func writeFITS(to path: String) throws(SkyError) {
        let columns = columns
        let rows = Array(self.rows)
        try FITSWriter.write(to: path) { writer in
            writer.table(
                rows: rows.count, names: columns.map(\.name), forms: columns.map(\.form.fits),
                units: columns.map(\.unit), name: "CATALOG")
            for (index, column) in columns.enumerated() {
                writer.card(FITSCard("TCOMM\(index + 1)", .text(column.summary), ""))
            }
            for card in cards { writer.card(card) }
            for (index, column) in columns.enumerated() {
                switch column.form {
                case .integer:
                    writer.column(index + 1, rows.map { Self.integer(column.value($0)) })
                case .position:
                    writer.column(index + 1, rows.map { Self.real(column.value($0)) })
                case .measure, .scientific:
                    writer.column(index + 1, rows.map { Float(Self.real(column.value($0))) })
                }
            }
        }
    }

    private static func real(_ value: Double?) -> Double {
        guard let value, value.isFinite else { return .nan }
        return value
    }

    private static func integer(_ value: Double?) -> Int32 {
        guard let value, value.isFinite else { return 0 }
        return Int32(min(max(value, Double(Int32.min)), Double(Int32.max)))
    }

    /// The configuration, each card with the name of SExtractor's parameter.
    private var cards: [FITSCard] {
        let scan = configuration
        return [
            FITSCard("IMAGE", .text(image), "image that was scanned"),
            FITSCard("THRESH", .real(scan.threshold), "[sigma] DETECT_THRESH"),
            FITSCard("THRUNIT", .text(scan.thresholdUnit.rawValue), "noise of pixels, or of the filtered image"),
            FITSCard("FILTER", .text(scan.filter.name), "FILTER_NAME"),
            FITSCard("FILTFWHM", .real(scan.filter.fwhm ?? 0), "[pixel] of a Gaussian filter, 0 for others"),
            FITSCard("MINAREA", .integer(scan.minimumArea), "[pixel] DETECT_MINAREA"),
            FITSCard("NTHRESH", .integer(scan.deblendLevels), "DEBLEND_NTHRESH"),
            FITSCard("MINCONT", .real(scan.deblendContrast), "DEBLEND_MINCONT"),
            FITSCard("CLEAN", .real(scan.cleanParameter ?? 0), "CLEAN_PARAM, 0 for no cleaning"),
            FITSCard("BACKSIZE", .integer(scan.meshSize), "[pixel] BACK_SIZE"),
            FITSCard("BACKFILT", .integer(scan.meshFilterSize), "[mesh] BACK_FILTERSIZE"),
            FITSCard("SATURATE", .real(scan.saturation ?? 0), "[adu] SATUR_LEVEL, 0 for none"),
            FITSCard("GAIN", .real(scan.gain), "[electron/adu] GAIN, 0 for none"),
            FITSCard("MAGZERO", .real(scan.zeroPoint), "[mag] MAG_ZEROPOINT"),
            FITSCard("SECTOR", .integer(scan.sectorSize ?? 0), "[pixel] side of a sector, 0 for the whole image"),
            FITSCard("MARGIN", .integer(scan.margin), "[pixel] rim around a sector"),
        ]
            + scan.apertureDiameters.enumerated().map {
                FITSCard("APER\($0.offset + 1)", .real($0.element), "[pixel] PHOT_APERTURES, a diameter")
            }
    }
}

extension CatalogueColumn.Form {
    /// `TFORM` of the column (FITS standard 4.0, table 18).
    var fits: String {
        switch self {
        case .integer: "1J"
        case .position: "1D"
        case .measure, .scientific: "1E"
        }
    }
}
