/// What is measured of sources only if a column asks for it.
public struct FurtherMeasures: OptionSet, Hashable, Sendable {
    /// One bit for each measure.
    public let rawValue: Int

    /// The measures whose bits are set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Errors of the isophotal flux and of the barycentre.
    public static let isophotalErrors = FurtherMeasures(rawValue: 1)
    /// How much sky a pixel covers at the source.
    public static let pixelArea = FurtherMeasures(rawValue: 2)
    /// How much wider than the image's stars a source is.
    public static let spread = FurtherMeasures(rawValue: 4)

    /// One column for each measure that needs it, in a fixed order.
    private static let examples: [(measure: FurtherMeasures, column: String)] = [
        (.isophotalErrors, "FLUXERR_ISO"), (.pixelArea, "MU_MAX"), (.spread, "SPREAD_MODEL"),
    ]

    /// A smallest set of columns that asks for these measures.
    package var columns: [String] { Self.examples.filter { contains($0.measure) }.map(\.column) }
}
