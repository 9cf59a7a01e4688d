/// The sources of a whole image.
public struct Catalogue: Codable, Sendable {
    /// The image.
    public var info: ImageInfo
    /// From the first row up, in a row from the first column: a source's number is its place here, from 1.
    public var sources: [Source]
    /// The filter that they were found with.
    public var filter: DetectionFilter
    /// Sources too large for their sector, see `SectorResult`.
    public var truncatedSources: Int
    /// The artificial stars that were put into the image, as far as their sectors are done; `nil` for none.
    package var injected: [InjectedStar]?

    /// Merges the sectors of an image and cleans the result. Order and number do not depend on the grid or on the
    /// order in which the sectors came; a second result for a sector is left out.
    ///
    /// - Parameter joined: Objects larger than their sectors; they take the place of what the sectors saw of them.
    public init(
        merging results: [SectorResult], joined: [JoinedObjects] = [], info: ImageInfo,
        filter: DetectionFilter = .pyramid
    ) {
        self.info = info
        self.filter = filter
        var seen: Set<Int> = []
        var results = results.sorted { $0.sector < $1.sector }.filter { seen.insert($0.sector).inserted }
        let stars = results.compactMap(\.injected)
        injected = stars.isEmpty ? nil : stars.joined().sorted { $0.number < $1.number }
        for index in results.indices { results[index].takeInFragments(except: joined.map(\.rect)) }
        results += joined.sorted { ($0.rect.y, $0.rect.x) < ($1.rect.y, $1.rect.x) }.map(\.found)
        truncatedSources = results.reduce(0) { $0 + $1.truncatedSources }
        var sources = Self.cleaned(results)
        SpreadModel.calibrate(&sources)
        self.sources = sources.sorted {
            ($0.y, $0.x, $0.fluxIsophotal, $0.area) < ($1.y, $1.x, $1.fluxIsophotal, $1.area)
        }
        if let scale = info.layer?.scale { sources = sources.map(scale.inImage) }
    }

    /// The sources where they are in the frame that the image is a colour of; as they are of any other image.
    public var sourcesInFrame: [Source] {
        info.layer?.bayer.map { sources.map($0.inFrame) } ?? sources
    }

    /// How wide the image's stars are: as the configuration says, or as they are measured; `nil` where they are too few.
    public func seeing(_ configuration: ScanConfiguration) -> Seeing? {
        configuration.seeing(of: sources)
    }

    private static func cleaned(_ results: [SectorResult]) -> [Source] {
        var all = results.flatMap(\.sources)
        let profiles = results.compactMap(\.cleaning).flatMap(\.profiles)
        guard let exponent = results.lazy.compactMap(\.cleaning).first?.exponent, profiles.count == all.count else {
            return all
        }
        let cleaner = Cleaner(profiles: profiles, positions: all.map { ($0.x, $0.y) }, exponent: exponent)
        let survives = cleaner.survivors { victim, master in all[master].takeIn(all[victim]) }
        return all.indices.filter { survives[$0] }.map { all[$0] }
    }
}

extension Source {
    /// What SExtractor adds to a source from one that CLEAN gives to it.
    fileprivate mutating func takeIn(_ other: Source) {
        fluxIsophotal += other.fluxIsophotal
        peak = max(peak, other.peak)
        if let own = further?.fluxErrorIsophotal, let more = other.further?.fluxErrorIsophotal {
            further?.fluxErrorIsophotal = (own * own + more * more).squareRoot()
        }
        flags |= other.flags & SourceFlags.ofFootprint.rawValue
    }
}
