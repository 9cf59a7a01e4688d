/// What is measured of sources only where a column asks for it.
public struct FurtherMeasures: OptionSet, Hashable, Sendable {
    /// A bit for each.
    public let rawValue: Int

    /// Those whose bits are set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Errors of the isophotal flux and of the barycentre.
    public static let isophotalErrors = FurtherMeasures(rawValue: 1)
    /// How much sky a pixel covers at the source.
    public static let pixelArea = FurtherMeasures(rawValue: 2)
    /// How much wider than the image's stars a source is.
    public static let spread = FurtherMeasures(rawValue: 4)

    /// A column that needs each of them, in a fixed order.
    private static let examples: [(measure: FurtherMeasures, column: String)] = [
        (.isophotalErrors, "FLUXERR_ISO"), (.pixelArea, "MU_MAX"), (.spread, "SPREAD_MODEL"),
    ]

    /// The fewest columns that ask for them.
    package var columns: [String] { Self.examples.filter { contains($0.measure) }.map(\.column) }
}

extension ScanConfiguration {
    /// What its columns need beside what every source has.
    public var measures: FurtherMeasures {
        guard let columns else { return [] }
        return CatalogueColumn.further.reduce(into: []) { measures, column in
            if columns.contains(column.name) { measures.formUnion(column.measures) }
        }
    }

    /// The same to whoever measures: which columns are written, and in which order, decides nothing but what they need.
    var measuring: ScanConfiguration {
        var configuration = self
        let needed = measures.columns
        configuration.columns = needed.isEmpty ? nil : needed
        return configuration
    }
}
