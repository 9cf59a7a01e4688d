import Base

/// The scan of one sector, or of a union of sectors. It detects the objects in its rectangle, and measures those that it owns.
///
/// Nothing in the result depends on how the image was cut. If an object or an aperture of the core reaches beyond the pixels
/// that were read, the scan reads more, up to a limit. An object that a sector cannot hold becomes a fragment, which a union of
/// sectors measures; an aperture that is still too large is counted in `truncatedSources`.
struct SectorScan {
    let image: ScanImage
    let scope: ScanScope
    let background: BackgroundMap
    let configuration: ScanConfiguration
    /// The image in which sources are found; `nil` if it is the measured image itself.
    var detection: DetectionSurface?
    /// Measures how long the stages of the scan take.
    var stages = StageClock()

    /// The number of pixels to which a sector may grow in any case; a large sector may grow to `growthFactor` times its own
    /// size. There is a limit because a nebula all over the frame must not make every sector scan the whole frame.
    var growthMinimum = 1 << 20
    /// The largest number of pixels of all objects that SEP may hold at once.
    var pixelStackLimit = SEPExtraction.pixelStackLimit

    private static let growthFactor = 4
    /// A sector this small is not cut up further.
    private static let smallestSide = 128

    private enum Outcome {
        case done(SectorResult)
        /// An object that the scan reports needs more pixels.
        case tooSmall
        /// There are more objects than SEP can hold.
        case overflow
    }

    /// - Throws: `.failed` with the rectangle if even small pieces have too many objects; the errors of the file.
    func run() throws(SkyError) -> SectorResult {
        var rect = scope.rect
        var rim = 64
        /// The last rectangle whose objects SEP could hold.
        var held: PixelRect?
        while true {
            let wider = rect.grown(by: rim, width: image.info.width, height: image.info.height)
            let canGrow = wider != rect && wider.area <= largest
            switch try scan(rect, acceptTruncated: !canGrow) {
            case .done(let result): return result
            case .tooSmall: break
            case .overflow:
                guard let held, case .done(let result) = try scan(held, acceptTruncated: true) else {
                    return try inQuarters()
                }
                return result
            }
            held = rect
            rect = wider
            rim *= 2
        }
    }

    /// The largest number of pixels to read.
    private var largest: Int {
        switch scope {
        case .sector(let sector): max(sector.padded.area * Self.growthFactor, growthMinimum)
        case .union: SectorUnion.areaLimit
        }
    }

    /// Whether an object that is cut off is so large already that the sector leaves it to a union.
    private func isOversized(_ object: Detection) -> Bool {
        guard case .sector = scope else { return false }
        let side = Double(max(object.outline.width, object.outline.height))
        return side > 0.375 * Double(largest).squareRoot()
    }

    /// Makes the sector's result from those of four quarters.
    private func inQuarters() throws(SkyError) -> SectorResult {
        guard case .sector(let sector) = scope, max(sector.core.width, sector.core.height) > Self.smallestSide else {
            let rect = scope.rect
            throw SkyError(
                .failed,
                "there are more objects in the \(rect.width) x \(rect.height) pixels at \(rect.x + 1), \(rect.y + 1) than "
                    + "SEP can hold; raise the threshold")
        }
        let core = sector.core
        // Any cut is allowed, because a mesh has its place in the image and not in the sector.
        let (columns, lines) = (max(1, core.width / 2), max(1, core.height / 2))
        var result = SectorResult(sector: sector.index, scanned: [])
        for (x, width) in [(core.x, columns), (core.x + columns, core.width - columns)] where width > 0 {
            for (y, height) in [(core.y, lines), (core.y + lines, core.height - lines)] where height > 0 {
                let quarter = PixelRect(x: x, y: y, width: width, height: height)
                // A sector that is the whole image has no margin of its own, so each quarter gets one.
                let padded = quarter.grown(
                    by: max(configuration.margin, 64), width: image.info.width, height: image.info.height)
                var scan = SectorScan(
                    image: image, scope: .sector(Sector(index: sector.index, core: quarter, padded: padded)),
                    background: background, configuration: configuration)
                (scan.growthMinimum, scan.pixelStackLimit) = (growthMinimum, pixelStackLimit)
                (scan.detection, scan.stages) = (detection, stages)
                result.append(
                    try scan.run(), ifWhole: ScannedPart(sector: sector.index, core: quarter, rect: padded))
            }
        }
        return result
    }

    private func scan(_ rect: PixelRect, acceptTruncated: Bool) throws(SkyError) -> Outcome {
        stages.enter(.background)
        let pixels = SectorPixels(
            try stages.during(.read) { () throws(SkyError) in try image.read(rect) }, rect: rect,
            background: background, saturation: configuration.saturation)
        let frame = SectorFrame(rect: rect, scope: scope, info: image.info, configuration: configuration)
        guard let detection else {
            return try pixels.withPointers { view throws(SkyError) in
                try scan(frame, view, seen: view, pixels.saturated, acceptTruncated: acceptTruncated)
            }
        }
        let seen = SectorPixels(
            try stages.during(.read) { () throws(SkyError) in try detection.image.read(rect) }, rect: rect,
            background: detection.background, saturation: nil)
        return try pixels.withPointers { view throws(SkyError) in
            try seen.withPointers { seen throws(SkyError) in
                try scan(frame, view, seen: seen, pixels.saturated, acceptTruncated: acceptTruncated)
            }
        }
    }

    /// - Parameters:
    ///   - view: The pixels that are measured.
    ///   - seen: The pixels in which sources are found; mostly the same.
    private func scan(
        _ frame: SectorFrame, _ view: SectorPixels.View, seen: SectorPixels.View, _ saturated: [Bool],
        acceptTruncated: Bool
    ) throws(SkyError) -> Outcome {
        stages.enter(.detection)
        let seenNoise = (detection?.background ?? background).globalRMS
        let detector = SectorDetector(
            frame: frame, pixels: seen.detection, configuration: configuration, noise: seenNoise,
            pixelStackLimit: pixelStackLimit)
        guard let parents = try detector.footprints() else { return .overflow }
        let cut = parents.objects.filter { !$0.isComplete && frame.concerns($0) }
        if !acceptTruncated, !cut.allSatisfy(isOversized) { return .tooSmall }
        let filtered = try FilteredPixels(
            seen.detection, width: frame.rect.width, height: frame.rect.height, footprints: parents,
            kernel: DetectionKernel(configuration.filter))
        defer { withExtendedLifetime(filtered) {} }
        stages.enter(.deblending)
        let found = try detector.deblend(parents, filtered)
        stages.enter(.photometry)
        let owned = found.objects.indices.compactMap { index in
            frame.owner(of: found.objects[index]).map { (index: index, sector: $0) }
        }
        if !acceptTruncated,
            owned.contains(where: {
                found.objects[$0.index].isComplete && !frame.holdsApertures(found.objects[$0.index], configuration)
            })
        {
            return .tooSmall
        }
        let profiles = configuration.cleanParameter.map { _ in
            found.objects.map {
                CleanProfile(
                    $0, footprint: found.pixels[$0.pixels], pixels: seen.detection, filtered: filtered.values,
                    minimumArea: configuration.minimumArea, corner: (frame.rect.x, frame.rect.y))
            }
        }
        let map = try SegmentMap(
            found, profiles: profiles, pixels: seen.detection, rect: frame.rect, configuration: configuration)
        var measured: [MeasuredSource] = []
        let measures = configuration.measures
        let sharpness = Sharpness(
            view: view, width: frame.rect.width, height: frame.rect.height,
            noise: Double(background.globalRMS), gain: configuration.gain ?? 0)
        let tellsFootprints = configuration.checkParts?.contains(.footprints) ?? false
        let levels = background.levels(at: owned.map { found.objects[$0.index].pixel }, in: frame.rect)
        for ((index, sector), level) in zip(owned, levels) {
            let footprint = found.pixels[found.objects[index].pixels]
            let (object, floor) = inImage(found.objects[index], footprint, view, width: frame.rect.width)
            let ellipse = Ellipse(object)
            let annulus = configuration.localBackground.map {
                LocalBackground(around: object, frame: frame, thickness: $0)
            }
            let photometry = map.withSegments(of: index) {
                Photometer(
                    pixels: view.values, mask: view.mask, kron: (seen.values, seen.mask), map: map,
                    width: frame.rect.width,
                    height: frame.rect.height, noise: Double(background.globalRMS), noises: view.sigmas,
                    gain: configuration.gain ?? 0,
                    apertureRadii: configuration.apertureDiameters.map { $0 / 2 }, annulus: annulus
                ).measure(object, ellipse, id: Int32(index) + 1)
            }
            let isMeasured =
                frame.holds(object, radius: photometry.reach(of: object, ellipse))
                && frame.holdsApertures(object, configuration) && annulus?.isHeld(by: frame) ?? true
            guard isMeasured || !object.isComplete || acceptTruncated else { return .tooSmall }
            var source = Source(
                object, ellipse, photometry,
                isCut: frame.cutsApertures(of: object, ellipse, photometry, configuration.apertureDiameters.max() ?? 0),
                frame: frame, sector: sector)
            // If the source has no light in the measured image, SExtractor marks that with a radius of 0.
            if detection != nil, source.fluxAuto <= 0 { source.kronRadius = 0 }
            source.background = Double(level)
            source.takeOut(photometry.localBackground, pixels: footprint.count)
            source.fwhm = GaussianWidth.fwhm(
                of: floor.map { object.above($0) } ?? object, footprint: footprint, pixels: view.values,
                width: frame.rect.width,
                saturation: configuration.saturation.map { $0 - Double(level) } ?? .infinity)
            let isSaturated = !saturated.isEmpty && footprint.contains { saturated[Int($0)] }
            source.sharpness = sharpness.measure(footprint, isSaturated: isSaturated)
            if !measures.isEmpty {
                source.further = further(
                    measures, object, source.fluxIsophotal, photometry, footprint, index, view, filtered.values, map,
                    width: frame.rect.width,
                    height: frame.rect.height)
            }
            if isSaturated { source.flags |= SourceFlags.saturated.rawValue }
            measured.append(
                MeasuredSource(
                    source: source, profile: profiles?[index],
                    footprint: tellsFootprints ? Footprint(source, pixels: footprint, rect: frame.rect) : nil,
                    isWhole: object.isComplete && isMeasured,
                    cutFrom: object.isComplete ? nil : frame.outline(of: object)))
        }
        image.wcs?.place(&measured)
        if measures.contains(.pixelArea) { setPixelAreas(&measured) }
        return .done(result(measured, cut: cut.map(frame.outline), rect: frame.rect))
    }

    /// A detection with its fluxes in units of the measured image. If it was found in another image, the measured image's own
    /// threshold comes with it.
    private func inImage(
        _ object: Detection, _ footprint: ArraySlice<Int32>, _ view: SectorPixels.View, width: Int
    ) -> (Detection, floor: Float?) {
        guard let detection else {
            return (view.weighted(object, footprint, width: width, noise: background.globalRMS), nil)
        }
        let floor = object.threshold / detection.background.globalRMS * background.globalRMS
        return (view.measured(object, footprint, above: floor), floor)
    }

    /// The measurements that only some columns need.
    private func further(
        _ measures: FurtherMeasures, _ object: Detection, _ flux: Double, _ photometry: Photometry,
        _ footprint: ArraySlice<Int32>,
        _ index: Int, _ view: SectorPixels.View, _ filtered: UnsafePointer<Float>, _ map: SegmentMap, width: Int,
        height: Int
    ) -> FurtherMeasurements {
        var further = FurtherMeasurements()
        let (noise, gain) = (Double(background.globalRMS), configuration.gain ?? 0)
        if measures.contains(.isophotalErrors) {
            let errors = IsophotalErrors(
                of: object, flux: flux, footprint: footprint, view: view, filtered: filtered, width: width,
                noise: noise, noiseSeen: detection.map { Double($0.background.globalRMS) },
                gain: gain)
            (further.fluxErrorIsophotal, further.positionVariance) = (errors.flux, errors.position)
        }
        if measures.contains(.spread), let model = configuration.seeing.flatMap(SpreadModel.init) {
            further.spread = map.withSegments(of: index) {
                let photometer = Photometer(
                    pixels: view.values, mask: view.mask, kron: (view.values, view.mask), map: map, width: width,
                    height: height, noise: noise,
                    noises: view.sigmas, gain: gain, apertureRadii: [])
                return Surroundings(photometer, object, id: Int32(index) + 1, radius: model.radius)
                    .withPixels(around: photometry.window) { pixels, noises, width, height, x, y in
                        model.measure(
                            pixels, noises, width: width, height: height, x: x, y: y, noise: noise, gain: gain,
                            level: photometry.localBackground)
                    }
            }
        }
        return further
    }

    private func setPixelAreas(_ measured: inout [MeasuredSource]) {
        let areas = image.wcs?.pixelAreas(measured.map { ($0.source.x, $0.source.y) })
        for index in measured.indices { measured[index].source.further?.pixelArea = areas?[index] ?? 1 }
    }

    private func result(_ measured: [MeasuredSource], cut: [PixelRect], rect: PixelRect) -> SectorResult {
        guard case .sector(let sector) = scope else {
            // No later scan measures an object that even the union cannot hold.
            return SectorResult(sector: -1, measured, configuration)
        }
        var result = SectorResult(sector: sector.index, measured.filter { $0.cutFrom == nil }, configuration)
        // The footprints of pieces are kept too, because some pieces become sources in the end.
        if result.footprints != nil { result.footprints = measured.compactMap(\.footprint) }
        if rect != sector.padded { result.scanned = [ScannedPart(sector: sector.index, core: sector.core, rect: rect)] }
        if !cut.isEmpty {
            let pieces = Dictionary(grouping: measured.filter { $0.cutFrom != nil }) { $0.cutFrom }
            result.fragments = Set(cut).sorted { ($0.y, $0.x, $0.height, $0.width) < ($1.y, $1.x, $1.height, $1.width) }
                .map { SectorResult.Fragment(outline: $0, pieces[$0] ?? [], configuration) }
        }
        return result
    }
}

extension Source {
    /// Subtracts the source's own background level from its values.
    fileprivate mutating func takeOut(_ level: Double, pixels: Int) {
        guard level != 0 else { return }
        background += level
        fluxIsophotal -= level * Double(pixels)
        peak -= level
    }

    fileprivate init(
        _ object: Detection, _ ellipse: Ellipse, _ measured: Photometry, isCut: Bool, frame: SectorFrame, sector: Int
    ) {
        // FITS counts pixels from 1.
        self.init(
            x: object.x + Double(frame.rect.x) + 1, y: object.y + Double(frame.rect.y) + 1, sector: sector)
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
            ).union(object.isUndivided ? .deblendingOverflow : []).union(isCut ? .apertureIncomplete : []).rawValue
    }
}
