/// What the scan of one sector found.
public struct SectorResult: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// The sources that the sector owns, CLEAN not yet applied: merging does that.
    @PackedRecords public var sources: [Source]
    /// How many of them are larger than what the sector may look at: these may differ from the same image scanned in
    /// larger sectors.
    public var truncatedSources: Int
    /// What merging needs for CLEAN; `nil` where cleaning is off.
    public var cleaning: Cleaning?
    /// What was looked at, where that is not the sector's padded rectangle.
    public var scanned: [ScannedPart]?
    /// Objects of the core that were too large to be held; `nil` for none.
    public var fragments: [Fragment]?
    /// The artificial stars of the core; `nil` where none were asked for.
    package var injected: [InjectedStar]?
    /// Whether its sources were found on another image than they were measured on; `nil` as `false`.
    package var isDual: Bool?
    /// The pixels of its sources and of the pieces of fragments; `nil` where they were not asked for.
    package var footprints: [Footprint]?
    /// The pixels of the core; `nil` where they were not asked for.
    package var planes: SectorPlanes?

    /// CLEAN's view of the sources.
    public struct Cleaning: Hashable, Codable, Sendable {
        /// `CLEAN_PARAM`.
        public var exponent: Double
        /// One for each of the sources.
        @PackedRecords public var profiles: [CleanProfile]

        /// Profiles and their exponent.
        public init(exponent: Double, profiles: [CleanProfile]) {
            self.exponent = exponent
            self.profiles = profiles
        }
    }

    /// What a sector saw of an object that is larger.
    public struct Fragment: Hashable, Codable, Sendable {
        /// The box in the image of what was seen of its footprint.
        public var outline: PixelRect
        /// The sources that the sector would own, as far as it saw them: second best to those of a union.
        @PackedRecords public var sources: [Source]
        /// What CLEAN needs of each; `nil` where it is off.
        public var profiles: [CleanProfile]?

        /// A fragment without sources by default.
        public init(outline: PixelRect, sources: [Source] = [], profiles: [CleanProfile]? = nil) {
            self.outline = outline
            self.sources = sources
            self.profiles = profiles
        }
    }

    /// A result, empty by default.
    public init(
        sector: Int, sources: [Source] = [], truncatedSources: Int = 0, cleaning: Cleaning? = nil,
        scanned: [ScannedPart]? = nil, fragments: [Fragment]? = nil
    ) {
        self.sector = sector
        self.sources = sources
        self.truncatedSources = truncatedSources
        self.cleaning = cleaning
        self.scanned = scanned
        self.fragments = fragments
    }
}

extension SectorResult {
    package init(sector: Int, _ measured: [MeasuredSource], _ configuration: ScanConfiguration) {
        self.init(
            sector: sector, sources: measured.map(\.source), truncatedSources: measured.count { !$0.isWhole },
            cleaning: configuration.cleanParameter.map {
                Cleaning(exponent: $0, profiles: measured.compactMap(\.profile))
            })
        if configuration.checkParts?.contains(.footprints) ?? false { footprints = measured.compactMap(\.footprint) }
    }

    /// Adds what another part of the same sector found, which looked at `part` where it does not say otherwise.
    package mutating func append(_ other: SectorResult, ifWhole part: ScannedPart) {
        sources += other.sources
        truncatedSources += other.truncatedSources
        scanned = (scanned ?? []) + (other.scanned ?? [part])
        if let more = other.footprints { footprints = (footprints ?? []) + more }
        if let found = other.fragments { fragments = (fragments ?? []) + found }
        guard let more = other.cleaning else { return }
        cleaning = Cleaning(exponent: more.exponent, profiles: (cleaning?.profiles ?? []) + more.profiles)
    }
}

extension SectorResult {
    /// Takes pieces of objects for sources, but for those whose objects a union of sectors has looked at.
    mutating func takeInFragments(except rects: [PixelRect]) {
        for fragment in fragments ?? [] where !rects.contains(where: { $0.contains(fragment.outline) }) {
            sources += fragment.sources
            truncatedSources += fragment.sources.count
            cleaning?.profiles += fragment.profiles ?? []
        }
        fragments = nil
    }
}

extension SectorResult.Fragment {
    init(outline: PixelRect, _ measured: [MeasuredSource], _ configuration: ScanConfiguration) {
        self.init(
            outline: outline, sources: measured.map(\.source),
            profiles: configuration.cleanParameter.map { _ in measured.compactMap(\.profile) })
    }
}
