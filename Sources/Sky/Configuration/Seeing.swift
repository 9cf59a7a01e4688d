/// How wide the stars of an image are.
public struct Seeing: Hashable, Codable, Sendable {
    /// Full width at half maximum in pixels.
    public var fwhm: Double
    /// Standard error of it, in pixels; 0 where it was given.
    public var error: Double
    /// Stars that it was measured with; 0 where it was given.
    public var stars: Int
    /// Whether the stars stand out clearly among sources of other widths.
    public var isClear: Bool

    /// A width that somebody knows better.
    public init(given fwhm: Double) { (self.fwhm, error, stars, isClear) = (fwhm, 0, 0, true) }

    init(fwhm: Double, error: Double, stars: Int, isClear: Bool = true) {
        (self.fwhm, self.error, self.stars, self.isClear) = (fwhm, error, stars, isClear)
    }

    /// Widths that may be given, in pixels.
    public static let widths = 0.5...100

    /// Stars that a width can be relied upon with.
    private static let enough = 10
    /// Share of the width that its error may be.
    private static let largestError = 0.05
    /// Widths that most images have: narrower stars look like hot pixels, and hardly any telescope shows wider ones in focus.
    private static let usual = 1.5...15

    /// Why it had better not be relied upon; `nil` where nothing speaks against it.
    public var doubt: String? {
        guard stars > 0 else { return nil }
        if fwhm < Self.usual.lowerBound { return "so narrow that stars and hot pixels look alike" }
        if fwhm > Self.usual.upperBound { return "wider than stars in focus are" }
        if stars < Self.enough { return "measured with \(stars) stars only" }
        if !isClear { return "hardly clearer than those of other sources: few stars, or none" }
        if error > Self.largestError * fwhm { return "uncertain by \(DecimalText.fixed(error, 2)) pixels" }
        return nil
    }

    /// In words, with what speaks against it.
    public static func words(_ seeing: Seeing?) -> String {
        guard let seeing else { return "not measured, too few stars" }
        let width = DecimalText.fixed(seeing.fwhm, 2)
        guard seeing.stars > 0 else { return "\(width) pixels, as given" }
        let measured = "\(width) ± \(DecimalText.fixed(seeing.error, 2)) pixels, of \(seeing.stars) stars"
        return measured + (seeing.doubt.map { " (doubtful: \($0))" } ?? "")
    }
}
