import Base

extension CatalogueTable {
    /// The catalogue as a region file for DS9 (DS9 reference manual, "Regions"). Sources that are sharper than stars are red,
    /// other flagged sources orange. For one image these are the Kron ellipses in image coordinates. For several images they
    /// are circles in the sky, without the sources that have no coordinates.
    public func regions() -> [UInt8] {
        let names = sections.map(\.image).joined(separator: ", ")
        let count = sections.reduce(0) { $0 + $1.sources.count }
        var bytes = Array(
            """
            # Region file format: DS9 version 4.1
            # \(PrintableText.whole(names)): \(count) sources
            global color=cyan width=1 select=1 highlite=1 edit=1 move=1 delete=1 include=1 source=1
            \(namesImages ? "icrs" : "image")

            """.utf8)
        for source in sections.lazy.flatMap(\.sources) {
            let fields: [(Double, Int)]
            if namesImages {
                guard let alpha = source.alpha, let delta = source.delta else { continue }
                fields = [(alpha, 7), (delta, 7)]
            } else {
                guard let ellipse = SourceEllipse(source, minimumRadius: 1) else { continue }
                fields = [
                    (ellipse.x, 4), (ellipse.y, 4), (ellipse.major, 3), (ellipse.minor, 3), (ellipse.degrees, 2),
                ]
            }
            bytes += (namesImages ? "circle(" : "ellipse(").utf8
            for (index, field) in fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                DecimalText.appendFixed(field.0, field.1, to: &bytes)
            }
            // The radius is two arcseconds, like a star on most images.
            if namesImages { bytes += ",2\"".utf8 }
            if source.imageFlags != 0 {
                bytes += ") # color=red\n".utf8
            } else {
                bytes += (source.flags == 0 ? ")\n" : ") # color=orange\n").utf8
            }
        }
        return bytes
    }
}
