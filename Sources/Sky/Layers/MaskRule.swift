import Base

/// The rule that says which values of a mask mark a pixel as unusable.
package struct MaskRule: Hashable, Codable, Sendable {
    /// A pixel is bad if its value has any of these bits; `nil` if the values are not sums of bits.
    package var bits: UInt64?
    /// A pixel is bad if its value is one of these codes; `nil` if the values are not such codes.
    package var codes: [Int]?

    /// The rule by which every value but 0 marks a bad pixel.
    package static let anything = MaskRule()

    package init(bits: UInt64? = nil, codes: [Int]? = nil) { (self.bits, self.codes) = (bits, codes) }

    /// NOIRLab's codes (DECam community pipeline, "data quality mask"): bad, no value, saturated, bleed trail, cosmic ray, low
    /// weight and streak. Code 7 marks a pixel that changed since other exposures, and so might hide an asteroid or a
    /// supernova.
    package static let noirlab = MaskRule(codes: [1, 2, 3, 4, 5, 6, 8])

    /// The names of LSST's mask planes whose pixels have lost light of the sky, in part or as a whole. An interpolated pixel
    /// has one of these bits too. Detected, edge, suspect and the like are no reason to leave a pixel out.
    package static let planesOfLSST = ["BAD", "SAT", "CR", "NO_DATA", "UNMASKEDNAN"]

    /// JWST's bit of pixels that must not be used at all. The other bits tell how a pixel was repaired.
    package static let jwst = MaskRule(bits: 1)

    /// - Parameters:
    ///   - bitNumbers: The numbers of LSST's mask planes by their names, from the keywords that begin with `MP_`.
    ///   - product: The kind of file by the header.
    ///   - telescope: The telescope that took the image.
    init(bitNumbers: [String: Int], product: String, telescope: String) {
        if !bitNumbers.isEmpty {
            let used = MaskRule.planesOfLSST.compactMap { bitNumbers[$0] }.filter { MaskRule.bitNumbers.contains($0) }
            self.init(bits: used.reduce(0) { $0 | 1 << UInt64($1) })
        } else if product == "dqmask" {
            self = .noirlab
        } else if telescope == "JWST" {
            self = .jwst
        } else {
            self = .anything
        }
    }

    /// The numbers of the bits that are exact in a 64-bit float, which is the type in which a mask is read.
    static let bitNumbers = 0..<52
    private static let codeLimit = 256

    /// Whether a pixel with this value is bad. A pixel that has no value is bad.
    func isBad(_ value: Double) -> Bool {
        guard value.isFinite else { return true }
        if let bits {
            guard let whole = Int64(exactly: value.rounded()) else { return true }
            return UInt64(bitPattern: whole) & bits != 0
        }
        guard let codes else { return value != 0 }
        return Int(exactly: value).map(codes.contains) ?? true
    }

    package func validate() throws(SkyError) {
        try SkyError.unless(
            (codes?.count ?? 0) <= MaskRule.codeLimit, "a mask of more than \(MaskRule.codeLimit) codes")
    }
}
