/// What an image of a file is for.
package enum ImageRole: Hashable, Sendable {
    /// A picture of the sky.
    case sky
    /// An image that marks the bad pixels.
    case mask
    /// An image that tells how certain the pixels are.
    case noise(Companions.NoiseKind)
    /// Another image that belongs to a picture, such as exposure times or a background.
    case other

    /// The words that mark the error for a file that has only masks, weights and the like.
    static let noSkyWords = "no picture of the sky in it"

    /// Whether a scan failed because the file has no picture of the sky. That is no reason to complain about a folder of
    /// images.
    package static func saysNoSky(_ reason: String) -> Bool { reason.contains(noSkyWords) }

    /// The role in words, for a user who wonders why the image is not scanned.
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

    /// The role that a name stands for. The names are those that pipelines give to companions of an image (HST and
    /// JWST data handbooks, LSST, the Legacy Surveys), and values of `EXTTYPE` (LSST), `PRODTYPE` and `OBSTYPE` (NOIRLab) and
    /// `IMAGETYP`, all as letters and digits.
    ///
    /// - Returns: `nil` if the name is not known.
    init?(name: String) {
        let plain = name.uppercased().filter { $0.isLetter || $0.isNumber }
        if let role = ImageRole.names[plain] {
            self = role
        } else if ["VAR_", "ERR_", "DQ_"].contains(where: name.uppercased().hasPrefix) {
            // A part of the noise, such as one of several variances, is not the noise.
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

    /// The role that the name of a file from NOIRLab's archive stands for. Such a name is made of instrument, date, time and
    /// three letters; the last letter stands for the product.
    ///
    /// - Returns: `nil` if the name is not of that form.
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
