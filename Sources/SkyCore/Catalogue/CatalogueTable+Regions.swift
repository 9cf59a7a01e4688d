extension CatalogueTable {
    /// The catalogue as a region file for DS9: the Kron ellipses in image coordinates, flagged sources in orange
    /// (DS9 reference manual, "Regions").
    public func regions() -> [UInt8] {
        var bytes = Array(
            """
            # Region file format: DS9 version 4.1
            # \(image.filter { $0 != "\n" && $0 != "\r\n" && $0 != "\r" }): \(sources.count) sources
            global color=cyan width=1 select=1 highlite=1 edit=1 move=1 delete=1 include=1 source=1
            image

            """.utf8)
        for source in sources {
            guard let ellipse = SourceEllipse(source, minimumRadius: 1) else { continue }
            bytes.append(contentsOf: "ellipse(".utf8)
            for (index, field) in [
                (ellipse.x, 4), (ellipse.y, 4), (ellipse.major, 3), (ellipse.minor, 3), (ellipse.degrees, 2),
            ].enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                DecimalText.appendFixed(field.0, field.1, to: &bytes)
            }
            bytes.append(contentsOf: (source.flags == 0 ? ")\n" : ") # color=orange\n").utf8)
        }
        return bytes
    }

    /// Writes the region file, whole or not at all.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func writeRegions(to path: String) throws(SkyError) {
        try AtomicFile.write(regions(), to: path)
    }
}
