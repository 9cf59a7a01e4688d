import Base
import Glibc

/// What an image's header says about the camera, the light and the moment.
///
/// The keywords are those that observatories, surveys and programs for amateurs write most. If a header has several of them,
/// the first in the list counts. A value that no camera can have counts as none. docs/USING.md, "What the header says",
/// explains each keyword.
public struct ImageKeywords: Hashable, Sendable {
    /// A value, and the keyword that it is from.
    public struct Number: Hashable, Sendable {
        public var value: Double
        /// The keyword, or several keywords with `+` in between.
        public var keyword: String
    }

    /// Electrons per unit of the image.
    public var gain: Number?
    /// Value from which a pixel counts as saturated, in units of the image.
    public var saturation: Number?
    /// Magnitude of one unit of flux.
    public var zeroPoint: Number?
    /// Time of exposure in seconds.
    public var exposure: Double?
    /// Unit of the pixels, in FITS's spelling if it is a usual unit.
    public var unit: String?
    /// When the image was taken, as the header spells it.
    public var date: String?
    /// The time scale of the date: UTC, or the value of `TIMESYS`.
    public var timeScale = "UTC"
    /// The filter that the light came through.
    public var filter: String?
    /// The object that the image shows.
    public var object: String?

    /// The values of an empty header.
    public init() {}

    /// - Parameter cards: The cards of a header, 80 characters each.
    public init(_ cards: [String]) {
        let values = HeaderValues(cards)
        func first(_ keywords: [String], in range: ClosedRange<Double>) -> Number? {
            for keyword in keywords {
                if let value = values.number(keyword), range.contains(value) {
                    return Number(value: value, keyword: keyword)
                }
            }
            return nil
        }
        unit = values.text("BUNIT").map(Self.unit)
        // Hubble's cameras write CCDGAIN even into images whose pixels are in electrons already.
        let isElectrons = unit?.hasPrefix("electron") ?? false
        gain = first(Self.gains.filter { $0 != "CCDGAIN" || !isElectrons }, in: 1e-6...1e6)
        saturation = first(Self.saturations, in: 1e-30...1e30)
        zeroPoint = first(Self.zeroPoints, in: -100...100) ?? Self.zeroPoint(values, unit: unit)
        exposure = first(Self.exposures, in: 0...1e9)?.value
        filter = Self.filter(values)
        object = values.text("OBJECT").map(Self.printable)
        date = values.text("DATE-OBS").map(Self.printable)
        if let scale = values.text("TIMESYS")?.uppercased(), Self.timeScales.contains(scale) { timeScale = scale }
    }

    /// Some programs for amateurs write the camera's own setting as GAIN, and the electrons per unit as EGAIN.
    static let gains = ["EGAIN", "GAIN", "CCDGAIN"]
    static let saturations = ["SATURATE", "SATLEVEL", "SATURAT"]
    static let zeroPoints = ["PHOTZP", "MAGZPT", "MAGZP", "MAGZERO", "ZEROPNT"]
    static let exposures = ["EXPTIME", "EXPOSURE", "EFFEXPTM", "XPOSURE"]

    private static let filters = ["FILTER", "FILTNAM1", "FILTERS", "FILTNAM"]
    private static let wheels = ["FILTER1", "FILTER2", "FILTER3"]

    /// The keywords that an extension takes from the primary header if its own header does not have them.
    static let inherited = Set(
        (gains + saturations + zeroPoints + exposures + filters + wheels
            + ["MJD-OBS", "DATE-OBS", "TIMESYS", "OBJECT", "BUNIT", "FLUXMAG0", "PHOTFLAM", "PHOTPLAM", "PIXAR_SR"])
            .map { Substring($0) })

    /// IVOA's vocabulary of time scales, as far as FITS has them.
    private static let timeScales: Set = ["UTC", "UT", "TAI", "TT", "TDB", "TCG", "TCB", "GPS"]

    /// The zero point that follows from other keywords.
    private static func zeroPoint(_ values: HeaderValues, unit: String?) -> Number? {
        func sound(_ value: Double, _ keyword: String) -> Number? {
            (-100...100).contains(value) ? Number(value: value, keyword: keyword) : nil
        }
        // LSST: FLUXMAG0 is the flux of magnitude 0.
        if let flux = values.number("FLUXMAG0"), flux > 0 { return sound(2.5 * log10(flux), "FLUXMAG0") }
        // HST: PHOTFLAM and PHOTPLAM give the AB magnitude of one unit (ACS data handbook, section 5.1.1).
        if let response = values.number("PHOTFLAM"), response > 0, let pivot = values.number("PHOTPLAM"), pivot > 0 {
            return sound(-2.5 * log10(response) - 5 * log10(pivot) - 2.408, "PHOTFLAM+PHOTPLAM")
        }
        // AB magnitudes, by definition: 8.90 is that of a jansky (Oke and Gunn 1983), 22.5 that of a nanomaggy.
        if unit == "MJy/sr", let area = values.number("PIXAR_SR"), area > 0 {
            return sound(8.90 - 2.5 * log10(1e6 * area), "BUNIT+PIXAR_SR")
        }
        let known = ["Jy": 8.90, "mJy": 16.40, "uJy": 23.90, "nJy": 31.40, "nanomaggy": 22.5]
        return unit.flatMap { known[$0] }.map { Number(value: $0, keyword: "BUNIT") }
    }

    /// The name of the one filter, or the names of the filter wheels' positions that are not empty.
    private static func filter(_ values: HeaderValues) -> String? {
        let one = filters.lazy.compactMap { values.text($0) }.first
        if let one { return printable(one) }
        let empty: Set = ["CLEAR", "CLEAR1L", "CLEAR2L", "OPEN", "NONE", "EMPTY", "AIR", "N/A"]
        let named = wheels.compactMap { values.text($0) }.filter {
            !empty.contains($0.uppercased())
        }
        return named.isEmpty ? nil : printable(named.joined(separator: "+"))
    }

    /// The unit as FITS spells it (FITS standard 4.0, section 4.3), if it is a usual unit.
    private static func unit(_ text: String) -> String {
        let plain = text.lowercased().filter { $0 != " " }
        let spellings: [String: String] = [
            "adu": "adu", "dn": "adu", "count": "count", "counts": "count", "cts": "count", "electron": "electron",
            "electrons": "electron", "e-": "electron", "e": "electron", "photon": "photon", "photons": "photon",
            "mjy/sr": text.hasPrefix("m") ? "mJy/sr" : "MJy/sr", "jy/beam": "Jy/beam", "jy/pixel": "Jy/pixel",
            "jy": "Jy",
            "ujy": "uJy", "njy": "nJy", "mjy": text.hasPrefix("M") ? "MJy" : "mJy", "nanomaggy": "nanomaggy",
            "nanomaggies": "nanomaggy", "nmgy": "nanomaggy",
        ]
        if let known = spellings[plain] { return known }
        for rate in ["/s", "/sec", "/second", "*s-1", "s-1", "s**-1"] where plain.hasSuffix(rate) {
            if let known = spellings[String(plain.dropLast(rate.count))] { return known + "/s" }
        }
        return printable(text)
    }

    /// Only printable characters are kept, because a card's text goes into other headers, pages and terminals.
    private static func printable(_ text: String) -> String { PrintableText.whole(String(text.prefix(68))) }
}

extension ScanConfiguration {
    /// The configuration for an image with this header: a value that the user did not set comes from the header.
    public func completed(by keywords: ImageKeywords) -> ScanConfiguration {
        var result = self
        result.gain = gain ?? keywords.gain?.value
        result.saturation = saturation ?? keywords.saturation?.value
        result.zeroPoint = zeroPoint ?? keywords.zeroPoint?.value
        return result
    }
}
