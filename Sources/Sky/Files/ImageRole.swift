/// What an image of a file is for.
package enum ImageRole: Hashable, Sendable {
    /// A picture of the sky.
    case sky
    /// Which pixels are bad.
    case mask
    /// How certain they are.
    case noise(Companions.NoiseKind)
    /// Something else that belongs to a picture: exposure times, backgrounds.
    case other

    /// By which a file is known that has masks, weights and the like only.
    static let noSkyWords = "no picture of the sky in it"

    /// Whether a scan was given up for that, which is no reason to complain about a folder of images.
    package static func saysNoSky(_ reason: String) -> Bool { reason.contains(noSkyWords) }

    /// In words, for whoever wonders why it is not scanned.
    package var words: String {
        switch self {
        case .sky: "an image"
        case .mask: "a mask"
        case .noise(.rms): "a noise map"
        case .noise(.variance): "a variance map"
        case .noise(.weight): "a weight map"
        case .other: "no picture of the sky"
        }
    }

    /// Names that pipelines give to planes which belong to an image (HST and JWST data handbooks, LSST, the Legacy Surveys), and
    /// values of `EXTTYPE` (LSST), `PRODTYPE` and `OBSTYPE` (NOIRLab) and `IMAGETYP`, all as letters and digits.
    ///
    /// - Returns: `nil` where the name says nothing.
    init?(name: String) {
        let plain = name.uppercased().filter { $0.isLetter || $0.isNumber }
        if let role = ImageRole.names[plain] {
            self = role
        } else if ["VAR_", "ERR_", "DQ_"].contains(where: name.uppercased().hasPrefix) {
            // A part of the noise is not the noise.
            self = name.uppercased().hasPrefix("DQ_") ? .mask : .other
        } else {
            return nil
        }
    }

    private static let names: [String: ImageRole] = {
        var names: [String: ImageRole] = [:]
        for (role, words) in [
            (
                ImageRole.mask,
                "DQ QUALITY FLAG FLAGS MASK BPM BADPIX BADPIXELMASK DQMASK DATAQUALITY OOD PIXELMASK MASKPLANE"
            ),
            (.noise(.variance), "VAR VARIANCE VARIANCEMAP"),
            (.noise(.weight), "WHT WEIGHT WEIGHTS WEIGHTMAP WTMAP IVAR INVVAR OOW"),
            (.noise(.rms), "ERR ERROR ERRORS RMS UNC UNCERT UNCERTAINTY RMSMAP"),
            (
                .other,
                "CON CONTEXT EXP EXPTIME EXPOSURE EXPMAP EXPOSUREMAP AREA SAMP TIME NSAMP BKG BACKGROUND WAVELENGTH OOE "
                    + "WCSDVARR D2IMARR"
            ),
        ] {
            for word in words.split(separator: " ") { names[String(word)] = role }
        }
        return names
    }()

    /// What NOIRLab's archive names a file: instrument, date, time and three letters, the last for the product.
    ///
    /// - Returns: `nil` where the name is none of these.
    init?(fileName path: String) {
        let name = path.split(separator: "/").last ?? ""
        guard let match = name.firstMatch(of: /^[a-z0-9]+_[0-9]{6}_[0-9]{6}_[a-z]{2}([dwe])_/) else { return nil }
        switch match.1 {
        case "d": self = .mask
        case "w": self = .noise(.weight)
        default: self = .other
        }
    }
}
