import Base

/// Which values of a mask say that a pixel is of no use.
package struct MaskRule: Hashable, Codable, Sendable {
    /// Any of these bits; `nil` where the values are no sums of bits.
    package var bits: UInt64?
    /// One of these numbers; `nil` where the values are no such codes.
    package var codes: [Int]?

    /// Anything but 0.
    package static let anything = MaskRule()

    package init(bits: UInt64? = nil, codes: [Int]? = nil) { (self.bits, self.codes) = (bits, codes) }

    /// NOIRLab's codes (DECam community pipeline, "data quality mask"): bad, no value, saturated, bleed trail, cosmic ray, low
    /// weight and streak. Number 7 is what changed since other exposures: somebody's asteroid or supernova.
    package static let noirlab = MaskRule(codes: [1, 2, 3, 4, 5, 6, 8])

    /// Names of LSST's planes whose pixels hold no light of the sky, or not all of it. What was interpolated has one of them
    /// too; detected, edge, suspect and the like are no reason to leave a pixel out.
    package static let planesOfLSST = ["BAD", "SAT", "CR", "NO_DATA", "UNMASKEDNAN"]

    /// JWST's bit of pixels that are not to be used at all; the others say how a pixel was mended.
    package static let jwst = MaskRule(bits: 1)

    /// - Parameters:
    ///   - bitNumbers: of LSST's planes by their names, from the keywords `MP_`.
    ///   - product: what the header calls the file.
    ///   - telescope: who took it.
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

    /// Bits that a 64-bit float has exactly, as which a mask is read.
    static let bitNumbers = 0..<52
    private static let codeLimit = 256

    /// Whether a pixel with this value is bad; one that has no value is.
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
