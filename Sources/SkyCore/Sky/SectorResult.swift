/// What the scan of one sector found.
public struct SectorResult: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// The sources that the sector owns, CLEAN not yet applied: merging does that.
    public var sources: [Source]
    /// How many of them are larger than what the sector may look at: these may differ from the same image scanned in
    /// larger sectors.
    public var truncatedSources: Int
    /// What merging needs for CLEAN; `nil` where cleaning is off.
    public var cleaning: Cleaning?

    /// CLEAN's view of the sources.
    public struct Cleaning: Hashable, Codable, Sendable {
        /// `CLEAN_PARAM`.
        public var exponent: Double
        /// One for each of the sources.
        public var profiles: [CleanProfile]

        /// Profiles and their exponent.
        public init(exponent: Double, profiles: [CleanProfile]) {
            self.exponent = exponent
            self.profiles = profiles
        }
    }

    /// A result, empty by default.
    public init(
        sector: Int, sources: [Source] = [], truncatedSources: Int = 0, cleaning: Cleaning? = nil
    ) {
        self.sector = sector
        self.sources = sources
        self.truncatedSources = truncatedSources
        self.cleaning = cleaning
    }
}
