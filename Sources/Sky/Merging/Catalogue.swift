package import Base

/// The sources of a whole image.
public struct Catalogue: Codable, Sendable {
    /// The image.
    public var info: ImageInfo
    /// The sources from the first row up, and in a row from the first column. The number of a source is its place here, from 1.
    public var sources: [Source]
    /// The filter with which they were found.
    public var filter: DetectionFilter
    /// Number of sources too large for their sector, see `SectorResult`.
    public var truncatedSources: Int
    /// What the sources were measured by; `nil` where that is not known.
    package var arithmetic: Arithmetic?
    /// The artificial stars that were added to the image, as far as their sectors are done; `nil` for none.
    package var injected: [InjectedStar]?

    /// Merges the sectors of an image and cleans the result. Order and number of the sources do not depend on the grid, or on
    /// the order in which the sectors came. A second result for a sector is left out.
    ///
    /// - Parameters:
    ///   - joined: The objects larger than their sectors. They replace the pieces that the sectors saw of them.
    ///   - seeing: Full width at half maximum of the image's stars, if the user knows it better than it can be measured.
    public init(
        merging results: [SectorResult], joined: [JoinedObjects] = [], info: ImageInfo,
        filter: DetectionFilter = .pyramid, seeing: Double? = nil
    ) {
        self.info = info
        self.filter = filter
        let stars = Self.first(results).compactMap(\.injected)
        injected = stars.isEmpty ? nil : stars.joined().sorted { $0.number < $1.number }
        let results = Self.merged(results, joined)
        truncatedSources = results.reduce(0) { $0 + $1.truncatedSources }
        var keys: [[Footprint.Key]]?
        var sources = Self.cleaned(results, keys: &keys)
        SpreadModel.calibrate(&sources)
        ImageFlags.judge(&sources, seeing: seeing.map(Seeing.init(given:)) ?? StarWidths(sources).seeing)
        sources = Self.order(of: sources).map { sources[$0] }
        if let scale = info.layer?.scale { sources = sources.map(scale.inImage) }
        self.sources = sources
    }

    /// The sources with their positions in the frame, if the image is one colour of a frame; otherwise the sources as they are.
    public var sourcesInFrame: [Source] {
        info.layer?.bayer.map { sources.map($0.inFrame) } ?? sources
    }

    /// The footprints that sectors and unions returned, each with the number of its source in the catalogue. A footprint whose
    /// source CLEAN gives to a brighter one has the brighter one's number.
    package static func footprints(merging results: [SectorResult], joined: [JoinedObjects]) -> [LabelledFootprint] {
        let published = (Self.first(results) + joined.map(\.found)).compactMap(\.footprints).joined()
        var keys: [[Footprint.Key]]? = []
        let sources = cleaned(merged(results, joined), keys: &keys)
        var numbers: [Footprint.Key: Int] = [:]
        for (number, index) in order(of: sources).enumerated() {
            for key in keys?[index] ?? [] { numbers[key] = number + 1 }
        }
        // A footprint that a union replaced belongs to no source.
        return published.compactMap { footprint in
            numbers[footprint.source].map { LabelledFootprint(number: $0, footprint: footprint) }
        }.sorted {
            ($0.number, $0.footprint.source.y, $0.footprint.source.x) < (
                $1.number, $1.footprint.source.y, $1.footprint.source.x
            )
        }
    }

    /// The places of sources in the order of a catalogue. Only these are moved while they are sorted, because a source is large.
    private static func order(of sources: [Source]) -> [Int] {
        sources.indices.map { (y: sources[$0].y, x: sources[$0].x, index: $0) }.sorted { one, other in
            if (one.y, one.x) != (other.y, other.x) { return (one.y, one.x) < (other.y, other.x) }
            if comesBefore(sources[one.index], sources[other.index]) { return true }
            return !comesBefore(sources[other.index], sources[one.index]) && one.index < other.index
        }.map(\.index)
    }

    private static func comesBefore(_ one: Source, _ other: Source) -> Bool {
        (one.y, one.x, one.fluxIsophotal, one.area) < (other.y, other.x, other.fluxIsophotal, other.area)
    }

    /// The results of the sectors in their order, the first result of each.
    private static func first(_ results: [SectorResult]) -> [SectorResult] {
        var seen: Set<Int> = []
        return results.sorted { $0.sector < $1.sector }.filter { seen.insert($0.sector).inserted }
    }

    /// The results with the objects that are larger than sectors.
    private static func merged(_ results: [SectorResult], _ joined: [JoinedObjects]) -> [SectorResult] {
        var results = first(results)
        for index in results.indices { results[index].takeInFragments(except: joined.map(\.rect)) }
        return results + joined.sorted { ($0.rect.y, $0.rect.x) < ($1.rect.y, $1.rect.x) }.map(\.found)
    }

    /// The width of the image's stars: the one in the configuration, or else the measured one; `nil` if there are too few
    /// stars.
    public func seeing(_ configuration: ScanConfiguration) -> Seeing? {
        configuration.seeing(of: sources, isDual: info.detection != nil)
    }

    /// The sources that CLEAN leaves.
    ///
    /// - Parameter keys: If it is not `nil`, it comes to hold for each of them its key from before CLEAN, and the keys of the
    ///   sources that it took in.
    private static func cleaned(_ results: [SectorResult], keys: inout [[Footprint.Key]]?) -> [Source] {
        var sources = results.flatMap(\.sources)
        if keys != nil { keys = sources.map { [Footprint.Key($0)] } }
        let profiles = results.compactMap(\.cleaning).flatMap(\.profiles)
        guard let exponent = results.lazy.compactMap(\.cleaning).first?.exponent, profiles.count == sources.count else {
            return sources
        }
        let cleaner = Cleaner(profiles: profiles, positions: sources.map { ($0.x, $0.y) }, exponent: exponent)
        let survives = cleaner.survivors { victim, master in
            sources[master].takeIn(sources[victim])
            if let taken = keys?[victim] { keys?[master] += taken }
        }
        keys = keys.map { keys in keys.indices.filter { survives[$0] }.map { keys[$0] } }
        return sources.indices.filter { survives[$0] }.map { sources[$0] }
    }
}

extension Source {
    /// Adds to a source what SExtractor adds from a source that CLEAN gives to it.
    mutating func takeIn(_ other: Source) {
        fluxIsophotal += other.fluxIsophotal
        peak = max(peak, other.peak)
        sharpness = max(sharpness, other.sharpness)
        if let own = further?.fluxErrorIsophotal, let more = other.further?.fluxErrorIsophotal {
            further?.fluxErrorIsophotal = (own * own + more * more).squareRoot()
        }
        flags |= other.flags & SourceFlags.ofFootprint.rawValue
    }
}

extension Catalogue {
    /// A catalogue put together from its pages.
    package init(info: ImageInfo, sources: [Source], truncated: Int, filter: DetectionFilter, injected: [InjectedStar]?)
    {
        self.init(merging: [], info: info, filter: filter)
        self.injected = injected
        self.sources = sources
        truncatedSources = truncated
    }
}

extension Catalogue {
    /// The values of the image's header.
    public var keywords: ImageKeywords { ImageKeywords(info.header ?? []) }
}
