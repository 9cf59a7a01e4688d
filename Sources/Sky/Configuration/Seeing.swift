/// How wide the stars of an image are.
public struct Seeing: Hashable, Codable, Sendable {
    /// Full width at half maximum in pixels.
    public var fwhm: Double
    /// Standard error of the width, in pixels; 0 if the width was given.
    public var error: Double
    /// Number of stars with which the width was measured; 0 if it was given.
    public var stars: Int
    /// Whether the stars stand out clearly among sources of other widths.
    public var isClear: Bool

    /// A width that the user knows better.
    public init(given fwhm: Double) { (self.fwhm, error, stars, isClear) = (fwhm, 0, 0, true) }

    init(fwhm: Double, error: Double, stars: Int, isClear: Bool = true) {
        (self.fwhm, self.error, self.stars, self.isClear) = (fwhm, error, stars, isClear)
    }

    /// The widths that a user may give, in pixels.
    public static let widths = 0.5...100

    /// The number of stars from which a width is reliable.
    private static let enough = 10
    /// The largest error of a reliable width, as a share of the width.
    private static let largestError = 0.05
    /// Widths that most images have: narrower stars look like hot pixels, and hardly any telescope shows wider ones in focus.
    private static let usual = 1.5...15

    /// Why the width is not reliable; `nil` if there is no reason for doubt.
    public var doubt: String? {
        guard stars > 0 else { return nil }
        if fwhm < Self.usual.lowerBound { return "so narrow that stars and hot pixels look alike" }
        if fwhm > Self.usual.upperBound { return "wider than stars in focus are" }
        if stars < Self.enough { return "measured with \(stars) stars only" }
        if !isClear { return "hardly clearer than those of other sources: few stars, or none" }
        if error > Self.largestError * fwhm { return "uncertain by \(DecimalText.fixed(error, 2)) pixels" }
        return nil
    }

    /// The width in words, with the reason for doubt.
    public static func words(_ seeing: Seeing?) -> String {
        guard let seeing else { return "not measured, too few stars" }
        let width = DecimalText.fixed(seeing.fwhm, 2)
        guard seeing.stars > 0 else { return "\(width) pixels, as given" }
        let measured = "\(width) ± \(DecimalText.fixed(seeing.error, 2)) pixels, of \(seeing.stars) stars"
        return measured + (seeing.doubt.map { " (doubtful: \($0))" } ?? "")
    }
}
