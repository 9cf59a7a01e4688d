/// A catalogue ready to be written: the sources, and the configuration that found them.
///
/// Equal catalogues are equal bytes in every format: fixed precision, no date, no name of a machine.
public struct CatalogueTable: Sendable {
    /// The sources in the order in which they are numbered.
    public var sources: [Source]
    /// What the scan was asked to do; its zero point gives the magnitudes.
    public var configuration: ScanConfiguration
    /// Name of the image, for the headers.
    public var image: String

    /// - Parameter image: the image's name as the reader should see it, without the folder.
    public init(sources: [Source], configuration: ScanConfiguration, image: String) {
        self.sources = sources
        self.configuration = configuration
        self.image = image
    }

    var columns: [CatalogueColumn] { CatalogueColumn.all(apertures: configuration.apertureDiameters.count) }

    var rows: some Sequence<CatalogueRow> {
        sources.lazy.enumerated().map {
            CatalogueRow(number: $0.offset + 1, source: $0.element, zeroPoint: configuration.zeroPoint)
        }
    }

    /// The catalogue as comma-separated values with a line of SExtractor's column names (RFC 4180, but lines end in a
    /// line feed). A value that does not exist is an empty field.
    public func csv() -> [UInt8] {
        let columns = columns
        var bytes = Array(columns.map(\.name).joined(separator: ",").utf8)
        bytes.append(UInt8(ascii: "\n"))
        bytes.reserveCapacity((sources.count + 1) * 320)
        for row in rows {
            for (index, column) in columns.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                column.append(row, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Writes the catalogue as CSV, whole or not at all.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func writeCSV(to path: String) throws(SkyError) {
        try AtomicFile.write(csv(), to: path)
    }
}
