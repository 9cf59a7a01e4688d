import Base

/// The work that the scan of an image consists of: read its header, measure the background of every sector, then scan every
/// sector with the one background that is stitched from all of them.
///
/// The work has rounds, because the result would depend on the sectors otherwise: a background of each sector's own changes a
/// tenth of the fluxes, while the stitched one gives the sources of a whole-image scan. If the filter should fit the image's
/// stars, a further round in between measures these in a few sectors. If objects turn out larger than their sectors, a last
/// round measures the unions of these sectors.
package struct ScanPhases: Sendable {
    private enum Phase {
        case inspecting
        case measuring
        case gauging(BackgroundMap)
        case extracting(BackgroundMap)
    }

    /// The purpose of a piece of work, with its place in `sectors`, `samples` or `unions`.
    package enum Role {
        case header
        case background(Int)
        case detectionBackground(Int)
        case seeing(Int)
        case sector(Int)
        case picture
        case union(Int)
    }

    package let request: SkyRequest
    /// The configuration that the user asked for, as far as nodes need to know it.
    package let given: ScanConfiguration
    /// Whether the columns need measurements beyond those that every source has.
    private let needsFurther: Bool
    private var phase = Phase.inspecting
    package private(set) var info: ImageInfo?
    /// The configuration with the filter that fits the image's stars.
    package private(set) var configuration: ScanConfiguration
    package private(set) var sectors: [Sector] = []
    /// The places where stars are measured to find the width of the filter; none if that width is known.
    package private(set) var samples: [Sector] = []
    /// The sectors in the order of their work. The dense ones come first, so that no node begins a long one when all the others
    /// are done.
    private var order: [Int] = []
    private var tiles: [BackgroundTile] = []
    /// The tiles of the detection image, if there is one; the background below is stitched from them.
    private var detectionTiles: [BackgroundTile] = []
    package private(set) var detectionBackground: BackgroundMap?
    /// The noise of the sky, if a check image should show it.
    private var noise: BackgroundMap?
    private var widths: [Int: StarWidths] = [:]
    private var results: [SectorResult] = []
    private var failedSectors = 0
    private var isPictureSettled = false
    /// The unions of sectors that are left when all sectors are done.
    package private(set) var unions: [SectorUnion] = []
    private var joined: [JoinedObjects] = []
    package private(set) var preview: ImagePreview?

    /// What follows a result, or a failure.
    package struct Step {
        /// The number of pieces of work that come on top of those issued before.
        package var newWork = 0
        /// No more work will come: the scan ends with its last piece.
        package var isLast = false
        /// The reason why the scan cannot succeed any more; the rest of its work is pointless.
        package var abort: SkyError?
        /// The header was read, so the size of the image and the number of sectors are known.
        package var planned: (info: ImageInfo, sectors: Int)?
        /// A sector is done, with this many sources.
        package var sectorDone: (sector: Int, sources: Int)?
    }

    package init(_ request: SkyRequest) {
        self.request = request
        let parts = CheckParts(of: request.checkImages ?? [])
        var given = request.configuration.measuring
        given.checkParts = parts.isEmpty ? nil : parts
        self.given = given
        needsFurther = !given.measures.isEmpty
        configuration = given
    }

    // Work has numbers in this order: the header, all backgrounds, those of the detection image, the samples, the picture, all
    // sectors, the unions. In requests of earlier versions the picture comes after the sectors.

    package func role(_ number: Int) -> Role? {
        guard number > 0 else { return number == 0 ? .header : nil }
        let sector: (Int) -> Role = { [order] in .sector(order.isEmpty ? $0 : order[$0]) }
        let picture: (Int) -> Role = { _ in .picture }
        let roles: [(count: Int, role: (Int) -> Role)] = [
            (sectors.count, Role.background), (detectionSectors, Role.detectionBackground),
            (samples.count, Role.seeing), (drawsFirst ? pictures : 0, picture), (sectors.count, sector),
            (drawsFirst ? 0 : pictures, picture), (unions.count, Role.union),
        ]
        var rest = number - 1
        for (count, role) in roles {
            if rest < count { return role(rest) }
            rest -= count
        }
        return nil
    }

    /// The number of sectors of the detection image whose background is measured.
    private var detectionSectors: Int { request.image.detection == nil ? 0 : sectors.count }

    private var drawsFirst: Bool { request.drawsFirst ?? false }

    private var pictures: Int { request.pictureSide == nil || sectors.isEmpty ? 0 : 1 }

    /// A piece of work by its number in the order of issue; `nil` if it is not due.
    package func work(_ number: Int) -> SkyWork? {
        guard let role = role(number) else { return nil }
        switch (role, phase) {
        case (.header, _): return .inspect(request.image, withContent: request.usesCache ?? true)
        case (.background(let index), _): return .background(image, sectors[index], given)
        case (.detectionBackground(let index), _):
            guard let detection = detection(with: nil) else { return nil }
            return .background(detection.reference(holder: info?.holder), sectors[index], detectionConfiguration)
        case (.seeing(let index), .gauging(let background)):
            return .seeing(image, samples[index], background, configuration)
        case (.sector(let index), .extracting(let background)):
            var configuration = configuration
            configuration.sparesRoom = true
            return .extract(dualImage, sectors[index], background, configuration)
        case (.picture, .extracting):
            return request.pictureSide.map { .preview(image, maximumSide: $0, encodes: request.encodesPicture) }
        case (.union(let index), .extracting(let background)):
            return .join(dualImage, unions[index], background, configuration)
        case (.seeing, _), (.sector, _), (.picture, _), (.union, _): return nil
        }
    }

    /// The name of a piece of work that users see, such as "sector 9".
    package func label(_ number: Int) -> String? {
        switch role(number) {
        case .header: "header"
        case .background(let index): "background \(sectors[index].index + 1)"
        case .detectionBackground(let index): "background of the detection image \(sectors[index].index + 1)"
        case .seeing(let index): "seeing \(index + 1)"
        case .sector(let index): "sector \(sectors[index].index + 1)"
        case .picture: "picture"
        case .union(let index): "large objects \(index + 1)"
        case nil: nil
        }
    }

    /// What the catalogue and the files beside it lack without this piece of work.
    package func consequence(ofFailed number: Int) -> String? {
        switch role(number) {
        case .sector(let index):
            let core = sectors[index].core
            return "the catalogue lacks columns \(core.x + 1) to \(core.right), rows \(core.y + 1) to \(core.bottom)"
        case .union(let index):
            let rect = unions[index].rect
            return
                "objects in columns \(rect.x + 1) to \(rect.right), rows \(rect.y + 1) to \(rect.bottom) are in pieces"
        case .picture: return "there is no picture and no page; the catalogue is not affected"
        default: return nil
        }
    }

    /// The earlier piece of work whose node has the pixels: the node that measured a sector's background. A sample may lie on
    /// several sectors.
    package func affinity(_ number: Int) -> Int? {
        switch role(number) {
        case .seeing(let index): sectors.firstIndex { $0.core.intersects(samples[index].core) }.map { 1 + $0 }
        case .sector(let index): 1 + index
        case .detectionBackground(let index): 1 + index
        // Work that has no affinity comes after all work that has.
        case .picture: drawsFirst ? 1 : nil
        case .header, .background, .union, nil: nil
        }
    }

    /// The image with the HDU that was found, so that every task means the same image.
    package var image: ImageReference {
        var image = ImageReference(
            path: request.image.path, hdu: info?.hdu ?? request.image.hdu, layer: info?.layer ?? request.image.layer,
            content: info?.content)
        image.injection = request.image.injection
        image.companions = request.image.companions?.completed(by: info?.ownCompanions)
        image.holder = info?.holder
        if let info, image.companions != nil {
            image.companions?.noise?.content = info.noiseContent
            image.companions?.noise?.hdu = info.noiseHDU
            image.companions?.mask?.content = info.maskContent
            image.companions?.mask?.hdu = info.maskHDU
        }
        return image
    }

    /// The same with the image in which its sources are found.
    private var dualImage: ImageReference {
        var image = image
        image.detection = detection(with: detectionBackground)
        return image
    }

    /// The detection image with the HDU that was found, so that every task means the same image.
    package func detection(with background: BackgroundMap?) -> DetectionImage? {
        guard var detection = request.image.detection else { return nil }
        if let found = info?.detection {
            (detection.image.hdu, detection.image.layer) = (found.hdu, found.layer)
            detection.image.content = found.content
        }
        detection.background = background
        return detection
    }

    /// The configuration for the background of the detection image, which has an HDU of its own.
    private var detectionConfiguration: ScanConfiguration {
        var configuration = given
        configuration.hdu = info?.detection?.hdu
        return configuration
    }

    /// The first piece of work.
    package mutating func begin() -> Step { Step(newWork: 1) }

    /// Whether a result answers the question that the piece of work asks.
    package func accepts(_ number: Int, _ result: SkyResult) -> Bool {
        guard let role = role(number) else { return false }
        switch (phase, role, result) {
        case (.inspecting, .header, .inspected(let info)):
            return (try? info.validate()) != nil && answers(info)
        case (.extracting, .picture, .preview(let preview)):
            // A worker of an earlier version encodes nothing. A command of one, whose request does not ask for it, cannot decode it.
            let isEncoded = preview.jpeg != nil
            return info.map { preview.isSound(of: $0) } ?? false && (!isEncoded || request.encodesPicture ?? false)
        case (.gauging, .seeing, .seeing(let widths)):
            return widths.isSound
        case (.measuring, .background(let index), .background(let tile)),
            (.measuring, .detectionBackground(let index), .background(let tile)):
            return tile.isSound(of: sectors[index], mesh: request.configuration.meshSize)
        case (.extracting, .sector(let index), .extracted(let result)):
            // A node of an earlier version does not know artificial stars, and would report that none was found.
            return result.sector == sectors[index].index && isSound(result, of: sectors[index])
                && (result.injected == nil) == (request.image.injection == nil) && isDual(result)
        case (.extracting, .union(let index), .joined(let result)):
            return result.rect == unions[index].rect && isSound(result.found, of: nil) && isDual(result.found)
        default: return false
        }
    }

    /// Whether the result is of a scan with a detection image if there is one. A node of an earlier version does not know
    /// detection images, and would find the sources of the measured image.
    private func isDual(_ result: SectorResult) -> Bool {
        (result.isDual ?? false) == (request.image.detection != nil)
    }

    /// Whether a header was read at the layer that the request names, without companions that the request does not ask for.
    private func answers(_ info: ImageInfo) -> Bool {
        var layer = info.layer ?? ImageLayer()
        layer.scale = request.image.layer?.scale
        let own = info.ownCompanions
        return layer == request.image.layer ?? ImageLayer()
            && (info.detection == nil) == (request.image.detection == nil)
            && (own == nil || request.image.companions?.takesOwn == true)
            && [own?.noise, own?.mask].compactMap(\.self).allSatisfy { $0.path == request.image.path }
    }

    /// Whether a result's rectangles and counts are valid.
    ///
    /// - Parameter sector: The sector whose result it is; `nil` for a union, which has no parts.
    private func isSound(_ result: SectorResult, of sector: Sector?) -> Bool {
        guard let info, (0...result.sources.count).contains(result.truncatedSources),
            result.sources.count <= sector?.core.area ?? info.width * info.height,
            result.sources.allSatisfy(isSound), result.injected?.allSatisfy(\.hasPlace) ?? true,
            (result.injected?.count ?? 0) <= request.image.injection?.count ?? 0,
            result.cleaning.map({ $0.profiles.count == result.sources.count }) ?? true
        else { return false }
        guard areSound(result, of: sector, info) else { return false }
        let (parts, fragments) = (result.scanned ?? [], result.fragments ?? [])
        guard let sector else { return parts.isEmpty && fragments.isEmpty }
        guard parts.count + fragments.count <= ScanPhases.rectangleLimit else { return false }
        let areParts = parts.allSatisfy { part in
            info.contains(part.core) && info.contains(part.rect) && part.sector == sector.index
                && sector.core.contains(part.core) && part.rect.contains(part.core)
        }
        return areParts
            && fragments.allSatisfy { fragment in
                info.contains(fragment.outline) && fragment.outline.intersects(sector.core)
                    && fragment.sources.count <= fragment.outline.area && fragment.sources.allSatisfy(isSound)
                    && fragment.profiles.map { $0.count == fragment.sources.count } ?? true
                    && (fragment.profiles == nil) == (result.cleaning == nil)
            }
    }

    /// Whether a result has all that the check images need, and nothing else.
    private func areSound(_ result: SectorResult, of sector: Sector?, _ info: ImageInfo) -> Bool {
        let parts = given.checkParts ?? []
        guard (result.footprints != nil) == parts.contains(.footprints),
            result.footprints?.allSatisfy({ $0.isSound(in: info) }) ?? true
        else { return false }
        guard let sector, parts.hasPlanes else { return result.planes == nil }
        return result.planes?.isSound(of: sector.core, parts) ?? false
    }

    /// Whether a source has the measurements that the columns need. A node of an earlier version does not know further
    /// measurements.
    private func isSound(_ source: Source) -> Bool {
        source.hasPlace && (source.further != nil) == needsFurther
    }

    /// The largest number of objects that are too large for a sector, and of quarters of quarters. No sector can have more.
    private static let rectangleLimit = 4096

    /// Takes the result of a piece of work.
    package mutating func completed(_ number: Int, _ result: SkyResult) -> Step {
        guard accepts(number, result) else {
            // The node has another version of the program, or it lies. In both cases its numbers cannot be trusted.
            return Step(abort: SkyError(.failed, "a node answered another question than it was asked"))
        }
        switch result {
        case .inspected(let info): return inspected(info)
        case .background(let tile):
            if case .detectionBackground = role(number) { detectionTiles.append(tile) } else { tiles.append(tile) }
            let isWhole = tiles.count == sectors.count && detectionTiles.count == detectionSectors
            return isWhole ? measured() : Step()
        case .seeing(let measured):
            guard case .seeing(let index) = role(number) else { return Step() }
            widths[index] = measured
            return widths.count == samples.count ? gauged() : Step()
        case .extracted(let result):
            results.append(result)
            var step = sectorSettled()
            step.sectorDone = (result.sector, result.sources.count)
            return step
        case .joined(let objects):
            joined.append(objects)
            return Step()
        case .preview(let preview):
            self.preview = preview
            isPictureSettled = true
            return sectorSettled()
        }
    }

    private mutating func inspected(_ info: ImageInfo) -> Step {
        self.info = info
        configuration = given.completed(by: ImageKeywords(info.header ?? []))
        do throws(SkyError) {
            try request.purpose?.check(info, layer: request.image.layer, configuration: configuration)
        } catch {
            return Step(abort: SkyError(.badInput, "\(FITSSniff.quoted(image.path)): \(error.message)"))
        }
        if let scale = info.layer?.scale { configuration = scale.inPixels(configuration) }
        do {
            sectors = try SectorGrid(info: info, configuration: request.configuration).sectors
        } catch {
            return Step(abort: error)
        }
        if let images = request.checkImages {
            if let refusal = refusal(of: images, info) { return Step(abort: refusal) }
        }
        phase = .measuring
        if given.filter == .seeing, let width = given.seeing { configuration.filter = .asWide(as: width) }
        if (given.filter == .seeing && given.seeing == nil) || (given.measures.contains(.spread) && seeing == nil) {
            samples = StarWidths.samples(width: info.width, height: info.height).enumerated().map { index, core in
                Sector(
                    index: index, core: core,
                    padded: core.grown(
                        by: request.configuration.margin, width: info.width, height: info.height))
            }
        }
        if let fail = request.failSector, fail >= sectors.count {
            return Step(
                abort: SkyError(.badInput, "there is no sector \(fail + 1), the image has \(sectors.count)"))
        }
        var shown = info
        (shown.header, shown.images, shown.auxiliaries, shown.holder) = (nil, nil, nil, nil)
        (shown.ownCompanions, shown.place) = (nil, nil)
        return Step(newWork: sectors.count + detectionSectors, planned: (shown, sectors.count))
    }

    private func refusal(of images: [CheckImage], _ info: ImageInfo) -> SkyError? {
        guard info.layer?.scale == nil, request.image.layer?.bayer == nil else {
            return SkyError(
                .badInput,
                "check images show an image's own pixels: of a colour's grid, or of values that 32-bit floats do not hold, there are none"
            )
        }
        guard info.width * info.height <= CheckImage.pixelLimit else {
            return SkyError(
                .badInput,
                "\(info.width) x \(info.height) pixels are too many for check images: at most \(CheckImage.pixelLimit)")
        }
        let area = sectors.map(\.core.area).max() ?? 0
        guard !CheckParts(of: images).hasPlanes || area <= CheckImage.sectorLimit else {
            return SkyError(
                .badInput,
                "sectors of \(area) pixels are too large for check images: at most \(CheckImage.sectorLimit); take a smaller "
                    + "--sector")
        }
        return nil
    }

    private mutating func measured() -> Step {
        guard let info else { return Step() }
        do throws(SkyError) {
            let background = try BackgroundMap(tiles: tiles, info: info, configuration: request.configuration)
            let density = Dictionary(tiles.map { ($0.sector, $0.brightPixels ?? 0) }) { one, _ in one }
            order = sectors.indices.sorted {
                (-(density[sectors[$0].index] ?? 0), $0) < (-(density[sectors[$1].index] ?? 0), $1)
            }
            if request.checkImages?.contains(.rms) ?? false {
                noise = try BackgroundMap.noise(
                    tiles: tiles, width: info.width, height: info.height, configuration: request.configuration)
            }
            if request.image.detection != nil {
                let map = try BackgroundMap(tiles: detectionTiles, info: info, configuration: request.configuration)
                detectionBackground = map
            }
            (tiles, detectionTiles) = ([], [])
            guard samples.isEmpty else {
                phase = .gauging(background)
                return Step(newWork: samples.count)
            }
            phase = .extracting(background)
        } catch {
            return Step(abort: error)
        }
        return scanning
    }

    private mutating func gauged() -> Step {
        guard case .gauging(let background) = phase else { return Step() }
        let stars = StarWidths(merging: Array(widths.values))
        if given.filter == .seeing, given.seeing == nil { configuration.filter = stars.filter }
        if given.measures.contains(.spread) { configuration.seeing = stars.seeing?.fwhm }
        phase = .extracting(background)
        return scanning
    }

    private var scanning: Step {
        Step(newWork: sectors.count + pictures)
    }

    /// Begins the last round when every sector has ended or failed and the picture has, too: all tasks of one step must be
    /// known before those of the next.
    private mutating func sectorSettled() -> Step {
        guard results.count + failedSectors == sectors.count, pictures == 0 || isPictureSettled, let info else {
            return Step()
        }
        unions = SectorUnion.unions(of: results, sectors: sectors, info: info)
        return Step(newWork: unions.count, isLast: true)
    }

    /// Records that a piece of work has failed for good.
    package mutating func failed(_ number: Int, _ reason: String, isBadInput: Bool) -> Step {
        // Nothing can be right without the header or with a background mesh missing, and another filter finds other sources. A
        // missing sector, in contrast, is a gap that can be named.
        switch role(number) {
        case .header, .background, .detectionBackground, .seeing, nil: break
        // The results so far are of an image that no longer exists.
        case _ where isBadInput && FileContent.saysChanged(reason): break
        case .sector:
            failedSectors += 1
            return sectorSettled()
        case .picture:
            isPictureSettled = true
            return sectorSettled()
        case .union: return Step()
        }
        // An engine's own error names the file; the error of a scheduler or a dying worker does not.
        let text = reason.contains(image.path) ? reason : "\(image.path): \(reason)"
        return Step(abort: SkyError(isBadInput ? .badInput : .failed, text))
    }

    /// Releases the data that only the merge needed.
    package mutating func release() {
        results = []
        (unions, joined) = ([], [])
        (tiles, detectionTiles, detectionBackground) = ([], [], nil)
        preview = nil
        phase = .measuring
    }

    /// The background beneath the sources, once it is known.
    package var background: BackgroundMap? {
        switch phase {
        case .inspecting, .measuring: nil
        case .gauging(let background), .extracting(let background): background
        }
    }

    /// The data that check images are made of, if the request asks for check images.
    package var planes: ScannedCheckPixels? {
        guard request.checkImages != nil else { return nil }
        return ScannedCheckPixels(
            parts: results.compactMap(\.planes).sorted { ($0.core.y, $0.core.x) < ($1.core.y, $1.core.x) },
            footprints: Catalogue.footprints(merging: results, joined: joined), background: background, noise: noise)
    }

    /// The width of the measured image's stars, if the user gave one. With a detection image the given width is that of the
    /// detection image's stars.
    private var seeing: Double? { request.image.detection == nil ? given.seeing : nil }

    /// The catalogue of the results that there are until now.
    package var catalogue: Catalogue? {
        info.map {
            Catalogue(merging: results, joined: joined, info: $0, filter: configuration.filter, seeing: seeing)
        }
    }
}
