/// The scan of one sector: what is found in the padded rectangle, and measured where the core owns it.
///
/// Nothing in the result depends on how the image was cut. Where an object or an aperture of the core reaches beyond
/// the pixels that were read, more are read, up to a limit; what still does is counted in `truncatedSources`.
struct SectorScan {
    let image: FITSImage
    let sector: Sector
    let background: BackgroundMap
    let configuration: ScanConfiguration

    /// Pixels that a sector may grow to in any case; beyond, to `growthFactor` times its own. A limit, because a
    /// nebula all over the frame must not make every sector scan the whole frame.
    var growthMinimum = 1 << 20

    private static let growthFactor = 4

    func run() throws(SkyError) -> SectorResult {
        var rect = sector.padded
        var rim = 64
        while true {
            let wider = rect.grown(by: rim, width: image.info.width, height: image.info.height)
            let limit = max(sector.padded.area * Self.growthFactor, growthMinimum)
            let canGrow = wider != rect && wider.area <= limit
            if let result = try scan(rect, acceptTruncated: !canGrow) { return result }
            rect = wider
            rim *= 2
        }
    }

    /// Scans `rect`; `nil` where that is too small and `acceptTruncated` is false.
    private func scan(_ rect: PixelRect, acceptTruncated: Bool) throws(SkyError) -> SectorResult? {
        var pixels = try image.read(rect)
        let saturated = configuration.saturation.map { level in
            pixels.indices.reduce(into: Set<Int32>()) { if Double(pixels[$1]) >= level { $0.insert(Int32($1)) } }
        }
        background.subtract(from: &pixels, rect: rect)
        let mask = pixels.map { UInt8($0.isNaN ? 1 : 0) }
        // The sky's level is the best guess for a missing pixel, and SEP's own.
        for index in pixels.indices where mask[index] != 0 { pixels[index] = 0 }
        let frame = SectorFrame(rect: rect, sector: sector, info: image.info, configuration: configuration)
        return try pixels.withUnsafeBufferPointer { pixels throws(SkyError) in
            try mask.withUnsafeBufferPointer { mask throws(SkyError) in
                guard let pixels = pixels.baseAddress, let mask = mask.baseAddress else { return nil }
                return try scan(frame, pixels, mask, saturated ?? [], acceptTruncated: acceptTruncated)
            }
        }
    }

    private func scan(
        _ frame: SectorFrame, _ pixels: UnsafePointer<Float>, _ mask: UnsafePointer<UInt8>, _ saturated: Set<Int32>,
        acceptTruncated: Bool
    ) throws(SkyError) -> SectorResult? {
        let detector = SectorDetector(
            frame: frame, pixels: pixels, configuration: configuration, noise: background.globalRMS)
        let parents = try detector.footprints()
        if !acceptTruncated, parents.objects.contains(where: { !$0.isComplete && frame.reachesCore($0) }) {
            return nil
        }
        let filtered = FilteredPixels(
            pixels, width: frame.rect.width, height: frame.rect.height, footprints: parents.pixels,
            kernel: DetectionKernel(configuration.filter))
        let found = try detector.deblend(parents, filtered)
        let owned = found.objects.indices.filter { frame.owns(found.objects[$0]) }
        if !acceptTruncated, owned.contains(where: { !frame.holdsApertures(found.objects[$0], configuration) }) {
            return nil
        }
        let profiles = configuration.cleanParameter.map { exponent in
            found.objects.map {
                CleanProfile(
                    $0, footprint: found.pixels[$0.pixels], pixels: pixels, filtered: filtered.values,
                    minimumArea: configuration.minimumArea, exponent: exponent)
            }
        }
        var segments = SegmentMap(found, profiles: profiles, configuration: configuration, frame: frame)
        var result = SectorResult(sector: sector.index)
        var points: [(x: Double, y: Double)] = []
        let levels = background.levels(at: owned.map { found.objects[$0].pixel }, in: frame.rect)
        for (index, level) in zip(owned, levels) {
            let object = found.objects[index]
            let footprint = found.pixels[object.pixels]
            let ellipse = Ellipse(object)
            let measured = segments.withSegments(of: index) { map in
                Photometer(
                    pixels: pixels, mask: mask, segments: map, width: frame.rect.width, height: frame.rect.height,
                    noise: Double(background.globalRMS), gain: configuration.gain,
                    apertureRadii: configuration.apertureDiameters.map { $0 / 2 }
                ).measure(object, ellipse, id: Int32(index) + 1)
            }
            let isWhole = object.isComplete && frame.holds(object, radius: measured.reach(of: object, ellipse))
            guard isWhole || acceptTruncated else { return nil }
            if !isWhole || !frame.holdsApertures(object, configuration) { result.truncatedSources += 1 }
            var source = Source(object, ellipse, measured, frame: frame)
            source.background = Double(level)
            source.fwhm = GaussianWidth.fwhm(
                of: object, footprint: footprint, pixels: pixels, width: frame.rect.width,
                saturation: configuration.saturation.map { $0 - source.background } ?? .infinity)
            if !saturated.isEmpty, footprint.contains(where: saturated.contains) {
                source.flags |= SourceFlags.saturated.rawValue
            }
            points.append((source.x, source.y))
            points.append((source.xWindow, source.yWindow))
            result.sources.append(source)
        }
        if let wcs = image.wcs {
            let places = wcs.sky(points)
            for index in result.sources.indices {
                let (place, window) = (places[2 * index], places[2 * index + 1])
                (result.sources[index].alpha, result.sources[index].delta) = (place?.alpha, place?.delta)
                (result.sources[index].alphaWindow, result.sources[index].deltaWindow) = (window?.alpha, window?.delta)
            }
        }
        if let profiles, let exponent = configuration.cleanParameter {
            result.cleaning = SectorResult.Cleaning(exponent: exponent, profiles: owned.map { profiles[$0] })
        }
        return result
    }
}

extension Source {
    fileprivate init(_ object: Detection, _ ellipse: Ellipse, _ measured: Photometry, frame: SectorFrame) {
        // FITS counts pixels from 1.
        self.init(
            x: object.x + Double(frame.rect.x) + 1, y: object.y + Double(frame.rect.y) + 1, sector: frame.sector.index)
        fluxAuto = measured.fluxAuto
        fluxErrorAuto = measured.fluxErrorAuto
        xWindow = measured.window.x + Double(frame.rect.x) + 1
        yWindow = measured.window.y + Double(frame.rect.y) + 1
        fluxesAperture = measured.fluxesAperture
        fluxErrorsAperture = measured.fluxErrorsAperture
        threshold = object.threshold.isFinite ? Double(object.threshold) : 0
        fluxIsophotal = object.flux.isFinite ? Double(object.flux) : 0
        peak = object.peak.isFinite ? Double(object.peak) : 0
        halfLightRadius = measured.halfLightRadius
        kronRadius = measured.kronRadius
        a = ellipse.a
        b = ellipse.b
        theta = ellipse.theta * 180 / .pi
        area = object.area
        flags =
            measured.flags.union(
                SourceFlags(detection: object.flags, touchesImageEdge: frame.touchesImageEdge(object))
            ).rawValue
    }
}
