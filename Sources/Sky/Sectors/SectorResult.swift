/// What the scan of one sector found.
public struct SectorResult: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// The sources that the sector owns. CLEAN has not been applied yet, because the merge applies it.
    @PackedRecords public var sources: [Source]
    /// The number of sources that need more pixels than the sector may read. They may differ from those of the same image
    /// scanned in larger sectors.
    public var truncatedSources: Int
    /// The data that the merge needs for CLEAN; `nil` if CLEAN is off.
    public var cleaning: Cleaning?
    /// The parts that were read, if they are not just the sector's padded rectangle.
    public var scanned: [ScannedPart]?
    /// The objects of the core that were too large for the sector; `nil` for none.
    public var fragments: [Fragment]?
    /// The artificial stars of the core; `nil` if the request has none.
    package var injected: [InjectedStar]?
    /// Whether its sources were found in another image than the one in which they were measured; `nil` as `false`.
    package var isDual: Bool?
    /// The pixels of its sources and of the pieces of fragments; `nil` if the request does not ask for them.
    package var footprints: [Footprint]?
    /// The pixels of the core for check images; `nil` if the request does not ask for them.
    package var planes: SectorCheckPixels?

    /// What CLEAN needs of the sources.
    public struct Cleaning: Hashable, Codable, Sendable {
        /// `CLEAN_PARAM`.
        public var exponent: Double
        /// One profile for each source.
        @PackedRecords public var profiles: [CleanProfile]

        /// Profiles and their exponent.
        public init(exponent: Double, profiles: [CleanProfile]) {
            self.exponent = exponent
            self.profiles = profiles
        }
    }

    /// The part of a larger object that a sector saw.
    public struct Fragment: Hashable, Codable, Sendable {
        /// The box in the image of the part of the footprint that the sector saw.
        public var outline: PixelRect
        /// The sources that the sector would own, as far as it saw them. Those of a union are better and replace them.
        @PackedRecords public var sources: [Source]
        /// What CLEAN needs of each source; `nil` if CLEAN is off.
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
    /// Has it encoded in less room. Two thirds of what a scan stores, and sends to other nodes, are the numbers of sources.
    package mutating func spareRoom() {
        _sources.sparesRoom = true
        cleaning?.spareRoom()
    }
}

extension SectorResult.Cleaning {
    fileprivate mutating func spareRoom() { _profiles.sparesRoom = true }
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

    /// Adds the result of another part of the same sector. That part read `part`, unless its result says otherwise.
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
    /// Adds the pieces of objects as sources, except those of objects that a union of sectors has measured.
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
