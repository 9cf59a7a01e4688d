import Sky
import SkyCore

/// What came of an image, as a program reads it: the line after its files are written.
struct CatalogueLine: Encodable {
    /// How wide the stars are.
    struct Stars: Encodable {
        /// Full width at half maximum in pixels, and its standard error; no error where somebody named the width.
        var fwhm: Double
        var error: Double?
        /// How many stars it was measured with.
        var count: Int?
        /// Why the width should not be relied upon.
        var doubt: String?
    }

    /// How values that 32-bit floats do not hold were scanned: less an offset, in units of a power of two.
    struct Scale: Encodable {
        var offset: Double
        var exponent: Int
    }

    /// A file that was used beside the image.
    struct OtherFile: Encodable {
        /// MASK, WEIGHT, RMS, VARIANCE or DETECT, as in the catalogue's header.
        var use: String
        var path: String
        var hdu: Int?
    }

    var event = "catalogue"
    var subject: String
    var hdu: Int
    var sources: Int
    /// `nil` where there are too few stars.
    var seeing: Stars?
    var plane: Int?
    var planes: Int?
    /// A colour camera's filter: R, G1, G2 or B.
    var bayer: String?
    var scale: Scale?
    var others: [OtherFile]?
    var files: [String]

    init(item: ScanItem, catalogue: Catalogue, configuration: ScanConfiguration, files: [String]) {
        let info = catalogue.info
        (subject, hdu, sources, self.files) = (item.name, info.hdu, catalogue.sources.count, files)
        seeing = catalogue.seeing(configuration).map { seeing in
            let isMeasured = seeing.stars > 0
            return Stars(
                fwhm: seeing.fwhm, error: isMeasured ? seeing.error : nil, count: isMeasured ? seeing.stars : nil,
                doubt: seeing.doubt)
        }
        if let cube = info.cube { (plane, planes) = (info.layer?.plane ?? 1, cube.planes) }
        bayer = item.layer?.bayer?.colour.rawValue
        scale = info.layer?.scale.map { Scale(offset: $0.offset, exponent: $0.exponent) }
        let companions = item.companions?.completed(by: info.ownCompanions)
        var others: [OtherFile] = []
        if let companions, let noise = companions.noise {
            others.append(
                OtherFile(use: companions.kind.rawValue.uppercased(), path: noise.path, hdu: info.noiseHDU))
        }
        if let mask = companions?.mask { others.append(OtherFile(use: "MASK", path: mask.path, hdu: info.maskHDU)) }
        if let detection = item.detection {
            others.append(OtherFile(use: "DETECT", path: detection.image.path, hdu: info.detection?.hdu))
        }
        self.others = others.isEmpty ? nil : others
    }
}
