import Base

/// Reads and scans images: it does all the work of a worker process. Its calls block, it runs on one thread, and the C
/// libraries that it calls may crash on a hostile file, so it must never run in the daemon.
///
/// It keeps the last image open, because the tasks of one worker mostly concern the same image.
package final class SkyEngine {
    /// The key of an open image: a file in its present state, or the content of another node's file.
    private enum Key: Equatable {
        case file(FileKey)
        case remote(PixelFile)
    }

    private struct FileKey: Equatable {
        var path: String
        var hdu: Int?
        var layer: ImageLayer?
        var stamp: FileStamp
    }

    /// The image, and in a comparison the one with which it is compared; the noise and the mask of each.
    private struct Place: Hashable {
        var age: Age
        var part: Part
    }
    package enum Age { case new, old }
    /// The last part is read for other nodes.
    private enum Part { case image, noise, mask, detection, served }
    private var cached: [Place: (key: Key, image: any PixelSource)] = [:]
    /// The files of the current task that are read from another node, by path.
    private var remote: [String: (content: FileContent, holder: PixelHolder)] = [:]
    /// Where the files of the current task are that a command has sent to this node, by the paths that they are known by, and
    /// what they hold. Whatever opens a file by its path looks here first.
    private var located: [String: (place: String, content: FileContent)] = [:]
    /// The folder of such files, each under its digest; `nil` if there is none.
    private let inputs: String?
    /// `nil` if no pixels come from other nodes.
    private let supply: (any ImageSupply)?
    /// Decides whether files still hold what they held.
    private var watch = FileWatch()
    /// The stars that were injected last, which the next task needs too.
    private var light: InjectedLight?

    /// How long the engine spends in each stage of its work.
    package let stages = StageClock()

    /// The one image in memory that the engine works on; `nil` if it works on files.
    private let memory: MemoryImage?

    /// Where files may be read.
    private let bounds: ReadBounds

    package init() { (memory, supply, bounds, inputs) = (nil, nil, ReadBounds([]), nil) }

    package init(_ image: MemoryImage) { (memory, supply, bounds, inputs) = (image, nil, ReadBounds([]), nil) }

    /// - Parameters:
    ///   - supply: The source of the pixels of files that cannot be opened here.
    ///   - readFolders: The folders below which files may be read; empty for everywhere.
    ///   - inputs: The folder of files that commands have sent, each under its digest; `nil` for none.
    package init(supply: any ImageSupply, readFolders: [String] = [], inputs: String? = nil) {
        (memory, self.supply, bounds, self.inputs) = (nil, supply, ReadBounds(readFolders), inputs)
    }

    /// Opens the image and returns its size; finds wrong, damaged and truncated files.
    ///
    /// - Parameters:
    ///   - withContent: Whether the content of the file is digested as a whole, and not only in some blocks.
    ///   - expected: What files hold where the command has them. A file with another content is not the intended one.
    package func inspect(
        path: String, hdu: Int?, layer: ImageLayer? = nil, companions: Companions? = nil,
        detection: Companions.Image? = nil, withContent: Bool = false, expected: [ImageReference.File] = []
    ) throws(SkyError) -> ImageInfo {
        stages.enter(.open)
        let outer = located
        defer { located = outer }
        for file in expected { try locate(file) }
        let paths =
            [path] + [companions?.noise?.path, companions?.mask?.path, detection?.path].compactMap(\.self)
        var before: [String: FileStamp] = [:]
        if memory == nil {
            // A file that cannot be opened has no stamp; the reading of its header will report the error.
            for path in paths {
                if located[path] == nil { try bounds.check(path) }
                before[path] = try? FileStamp(of: located[path]?.place ?? path)
            }
        }
        let plain = try image(path, hdu, layer, nil).images.sky
        var (companions, own) = (companions, Companions?.none)
        if companions?.takesOwn == true, let file = plain as? FITSImage {
            own = file.ownCompanions()
            companions = companions?.completed(by: own)
        }
        let (image, noise, mask) = try image(path, hdu, layer, companions).images
        var info = image.info
        info.ownCompanions = own
        (info.noiseHDU, info.maskHDU) = (noise?.info.hdu, mask?.info.hdu)
        info.layer = layer
        info.place = image.wcs.flatMap { SkyCircle(of: $0, width: info.width, height: info.height) }
        if layer?.scale == nil, let scale = try (image as? FITSImage)?.neededScale() {
            var scaled = layer ?? ImageLayer()
            scaled.scale = scale
            info.layer = scaled
        }
        if let detection {
            guard info.layer?.scale == nil else {
                throw SkyError(
                    .badInput,
                    "\(FITSSniff.quoted(path)): its values are more than 32-bit floats hold, and --detect needs such; divide the "
                        + "image first")
            }
            info.detection = try findDetection(detection, of: image, layer)
        }
        if memory == nil {
            let held = { [self] (path: String) throws(SkyError) in
                // Of a file that was sent all bytes are known.
                if let (place, content) = located[path] { return content.held(by: try FileStamp(of: place)) }
                return try content(of: path, since: before[path], sampled: !withContent)
            }
            stages.enter(.digest)
            info.content = try held(path)
            info.noiseContent = try companions?.noise.map { image throws(SkyError) in try held(image.path) }
            info.maskContent = try companions?.mask.map { image throws(SkyError) in try held(image.path) }
            if let detection { info.detection?.content = try held(detection.path) }
            stages.enter(.open)
        }
        info.header = image.header
        if hdu == nil {
            let (sky, others) = image.images()
            info.images = sky
            if !others.isEmpty { info.auxiliaries = others }
        }
        return info
    }

    /// The content of a file whose header was read since `before`.
    private func content(
        of path: String, since before: FileStamp?, sampled: Bool
    ) throws(SkyError) -> FileContent {
        let content = try FileContent(of: path, sampled: sampled)
        // Otherwise the header may belong to another image than the pixels.
        guard let before, before.identity == content.identity, before.resembles(content) else {
            throw FileContent.changed(path)
        }
        watch.saw(content, of: path, looking: before)
        return content
    }

    /// Where a file is that a command has sent to this node; `nil` if it has not. Nobody changes it there.
    private func input(_ content: FileContent) -> String? {
        guard let inputs, content.isSample != true else { return nil }
        let path = inputs + "/" + HexText.of(content.digest)
        return (try? FileStamp(of: path))?.size == content.size ? path : nil
    }

    /// Finds the file that a command has under a path: under the same path, or among those that were sent.
    ///
    /// - Throws: `SkyError` of kind `unavailable` if this node has another file under that path.
    private func locate(_ file: ImageReference.File) throws(SkyError) {
        let (path, content) = (file.path, file.content)
        located[path] = input(content).map { ($0, content) }
        guard located[path] == nil, bounds.allow(path), let stamp = try? FileStamp(of: path) else { return }
        if content.identity == stamp.identity || stamp.resembles(content) { return }
        let found = try? stages.during(.digest) { () throws(SkyError) in
            stamp.size == content.size ? try FileContent(of: path, sampled: content.isSample ?? false) : nil
        }
        guard found?.digest == content.digest else {
            throw FITSSniff.other(path)
        }
    }

    /// Works on a file that holds what it held when it was first read, perhaps on another machine, and that does not change
    /// during the work. Only a file that looks different is read as a whole, and only once.
    ///
    /// - Parameters:
    ///   - holder: A node that has the right file, if this node does not.
    ///   - work: The work on the file.
    /// - Throws: `SkyError` of kind `badInput` if the file has changed since it was first read, which no other attempt can
    ///   repair; of kind `unavailable` if this node has another file, because another node may have the right one.
    package func with<Result>(
        _ content: FileContent, of path: String, holder: PixelHolder? = nil, _ work: () throws -> Result
    ) throws -> Result {
        stages.enter(.open)
        if let input = input(content) {
            let outer = located[path]
            located[path] = (input, content)
            defer { located[path] = outer }
            return try work()
        }
        let elsewhere = supply == nil ? nil : holder
        guard bounds.allow(path), let before = try? FileStamp(of: path) else {
            // Without another node, the opening of the file reports the error.
            return try with(content, of: path, on: elsewhere, work)
        }
        let verdict: FileWatch.Verdict
        do throws(SkyError) {
            verdict = try self.verdict(on: content, of: path, before, for: .ownTask)
        } catch {
            // The file cannot be read as a whole on this node.
            guard elsewhere != nil else { throw error }
            verdict = .other
        }
        switch verdict {
        case .right: break
        case .changed: throw FileContent.changed(path)
        case .other:
            if elsewhere != nil { return try with(content, of: path, on: elsewhere, work) }
            throw SkyError(
                .unavailable,
                "\(FITSSniff.quoted(path)): it is not the file that was looked at first; do nodes have different files "
                    + "under this name?")
        }
        let result: Result
        do {
            result = try work()
        } catch {
            // A file that another program writes to looks damaged.
            try checkUntouched(content, of: path, since: before)
            throw error
        }
        stages.enter(.open)
        try checkUntouched(content, of: path, since: before)
        return result
    }

    /// Opens a file for another node. A node that does not know what the file holds does not learn whether the file exists: the
    /// error has the same words for a missing file, a different file and an unreadable one.
    ///
    /// - Parameter read: The work on the image.
    package func serve<Part>(
        _ file: PixelFile, _ read: (FITSImage) throws(SkyError) -> Part
    ) throws(SkyError) -> Part {
        if let objection = file.objection { throw SkyError(.badInput, objection) }
        return try serve(file.path, file.content) { () throws(SkyError) in
            let place = Place(age: .new, part: .served)
            guard let image = try image(file.path, file.hdu, file.layer, at: place) as? FITSImage else {
                throw SkyEngine.absent(file.path)
            }
            return try read(image)
        }
    }

    /// Works on files for another node, as `serve(_:_:)` does.
    package func serve<Result>(
        _ files: ArraySlice<ImageReference.File>, _ work: () throws(SkyError) -> Result
    ) throws(SkyError) -> Result {
        guard let file = files.first else { return try work() }
        return try serve(file.path, file.content) { () throws(SkyError) in try serve(files.dropFirst(), work) }
    }

    private func serve<Result>(
        _ path: String, _ content: FileContent, _ work: () throws(SkyError) -> Result
    ) throws(SkyError) -> Result {
        let stamp = bounds.allow(path) ? try? FileStamp(of: path) : nil
        if let input = input(content) {
            let outer = located[path]
            located[path] = (input, content)
            defer { located[path] = outer }
            return try work()
        }
        guard let stamp else { throw SkyEngine.absent(path) }
        switch try? verdict(on: content, of: path, stamp, for: .others) {
        case .right: break
        // A node that knows the numbers of the file has read it.
        case .changed where content.identity?.inode == stamp.identity.inode: throw FileContent.changed(path)
        case .changed, .other, nil: throw SkyEngine.absent(path)
        }
        let found = Swift.Result { () throws(SkyError) in try work() }
        try checkUntouched(content, of: path, since: stamp)
        return try found.get()
    }

    private static func absent(_ path: String) -> SkyError {
        SkyError(.unavailable, "\(FITSSniff.quoted(path)): it is not on this node as it was looked at first")
    }

    /// Throws if the file was touched since it was the right one, because the pixels may be of either state then.
    private func checkUntouched(_ content: FileContent, of path: String, since before: FileStamp) throws(SkyError) {
        let name = FITSSniff.quoted(path)
        guard let now = try? FileStamp(of: path) else {
            throw SkyError(.unavailable, "\(name): it was taken away while it was read")
        }
        guard now != before else { return }
        if try verdict(on: content, of: path, now, for: .ownTask) == .right {
            throw SkyError(.failed, "\(name): it was touched while it was read")
        }
        throw FileContent.changed(path)
    }

    private func with<Result>(
        _ content: FileContent, of path: String, on holder: PixelHolder?, _ work: () throws -> Result
    ) rethrows -> Result {
        remote[path] = holder.map { (content, $0) }
        defer { remote[path] = nil }
        return try work()
    }

    /// The time limit for the complete reading of a file for another node, which waits for a minute.
    private static let servingLimit = Duration.seconds(40)

    private func verdict(
        on content: FileContent, of path: String, _ now: FileStamp, for use: FileWatch.Use
    ) throws(SkyError) -> FileWatch.Verdict {
        let isSample = content.isSample ?? false
        let limit = use == .others ? SkyEngine.servingLimit : nil
        return try watch.verdict(on: content, of: path, looking: now, for: use) { () throws(SkyError) in
            do throws(SkyError) {
                return try stages.during(.digest) { () throws(SkyError) in
                    try FileContent(of: path, sampled: isSample, within: limit)
                }
            } catch {
                if error.kind == .badInput { return nil }
                throw error
            }
        }
    }

    /// Measures the background meshes of a sector's core. The HDU is the configuration's.
    package func background(
        in reference: ImageReference, sector: Sector, configuration: ScanConfiguration
    ) throws(SkyError) -> BackgroundTile {
        try configuration.validate()
        stages.enter(.open)
        let image = try image(reference, configuration)
        stages.enter(.read)
        let pixels = try image.read(sector.core)
        stages.enter(.background)
        return try BackgroundTile(
            pixels: pixels.values, sigmas: image.hasRelativeNoise ? pixels.sigmas : nil, sector: sector,
            configuration: configuration)
    }

    /// Finds the sources that a sector owns, and measures them above the image's background. The HDU is the configuration's.
    package func extract(
        in reference: ImageReference, sector: Sector, background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> SectorResult {
        try configuration.validate()
        stages.enter(.open)
        let image = try image(reference, configuration)
        let info = image.info
        try check(background, of: image)
        guard info.contains(sector.padded), info.contains(sector.core), sector.padded.contains(sector.core) else {
            throw SkyError(.badInput, "sector \(sector.index) is not inside \(FITSSniff.quoted(reference.path))")
        }
        var scan = SectorScan(
            image: image, scope: .sector(sector), background: background, configuration: configuration)
        scan.detection = try reference.detection.map { other throws(SkyError) in try surface(other, of: image) }
        scan.stages = stages
        var result = try scan.run()
        result.isDual = reference.detection == nil ? nil : true
        if let parts = configuration.checkParts, parts.hasPlanes {
            stages.enter(.draw)
            result.planes = try SectorCheckPixels(
                sector.core, of: image, background: background, configuration: configuration, parts: parts)
        }
        result.injected = try image.injected?.stars(in: sector.core, of: image)
        if configuration.sparesRoom ?? false { result.spareRoom() }
        return result
    }

    /// Measures the objects that are larger than their sectors. The HDU is the configuration's.
    package func join(
        in reference: ImageReference, union: SectorUnion, background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> JoinedObjects {
        try configuration.validate()
        stages.enter(.open)
        let image = try image(reference, configuration)
        try check(background, of: image)
        let info = image.info
        guard info.contains(union.rect), (union.pieces + union.taken).allSatisfy(info.contains),
            union.parts.allSatisfy({ info.contains($0.core) && ($0.rect.width == 0 || info.contains($0.rect)) })
        else {
            throw SkyError(.badInput, "sectors to be joined are not inside \(FITSSniff.quoted(reference.path))")
        }
        var scan = SectorScan(
            image: image, scope: .union(union), background: background, configuration: configuration)
        scan.detection = try reference.detection.map { other throws(SkyError) in try surface(other, of: image) }
        scan.stages = stages
        var found = try scan.run()
        found.isDual = reference.detection == nil ? nil : true
        return JoinedObjects(rect: union.rect, found: found)
    }

    /// The detection image of `image`, with its background.
    private func surface(
        _ detection: DetectionImage, of image: ScanImage
    ) throws(SkyError) -> DetectionSurface {
        let other = detection.image
        guard let background = detection.background else {
            throw SkyError(.badInput, "\(FITSSniff.quoted(other.path)): nobody measured its background")
        }
        let source = try self.image(other.path, other.hdu, other.layer, at: Place(age: .new, part: .detection))
        try check(source, isAsLargeAs: image.images.sky)
        let sky = try ScanImage(source)
        try check(background, of: sky)
        return DetectionSurface(image: sky, background: background)
    }

    /// Finds the detection image of an image and reads its header. It is the one that the user names. In a file with several,
    /// it is the one with the HDU number and plane of the image itself, or else the first.
    private func findDetection(
        _ detection: Companions.Image, of image: any PixelSource, _ layer: ImageLayer?
    ) throws(SkyError) -> FoundDetection {
        let place = Place(age: .new, part: .detection)
        let own = ImageLayer(plane: layer?.plane)
        var candidates: [(hdu: Int?, layer: ImageLayer?)] = []
        for hdu in detection.hdu.map({ [$0] }) ?? [image.info.hdu] {
            if detection.layer == nil, !own.isPlain { candidates.append((hdu, own)) }
            candidates.append((hdu, detection.layer))
        }
        if detection.hdu == nil {
            if detection.layer == nil, !own.isPlain { candidates.append((nil, own)) }
            candidates.append((nil, detection.layer))
        }
        for (hdu, layer) in candidates.dropLast() {
            guard let other = try? self.image(detection.path, hdu, layer, at: place), other.hasSize(of: image) else {
                continue
            }
            return try checkedDetection(other, layer)
        }
        // The error of the last candidate is the one that helps the user.
        let (hdu, layer) = candidates[candidates.count - 1]
        let other = try self.image(detection.path, hdu, layer, at: place)
        try check(other, isAsLargeAs: image)
        return try checkedDetection(other, layer)
    }

    private func checkedDetection(_ image: any PixelSource, _ layer: ImageLayer?) throws(SkyError) -> FoundDetection {
        guard try (image as? FITSImage)?.neededScale() == nil else {
            throw SkyError(
                .badInput,
                "\(FITSSniff.quoted(image.path)): its values are more than 32-bit floats hold, and --detect needs such; divide "
                    + "the image first")
        }
        return FoundDetection(hdu: image.info.hdu, layer: layer)
    }

    private func check(_ detection: any PixelSource, isAsLargeAs image: any PixelSource) throws(SkyError) {
        guard !detection.hasSize(of: image) else { return }
        throw SkyError(
            .badInput,
            "\(FITSSniff.quoted(detection.path)): \(detection.info.width) x \(detection.info.height) pixels, but "
                + "\(FITSSniff.quoted(image.path)), which is to be measured where it has sources, has \(image.info.width) x "
                + "\(image.info.height)")
    }

    private func check(_ background: BackgroundMap, of image: ScanImage) throws(SkyError) {
        let info = image.info
        guard info.width == background.width, info.height == background.height else {
            throw SkyError(
                .badInput,
                "\(FITSSniff.quoted(image.path)): \(info.width) x \(info.height) pixels, but its background was measured on"
                    + " \(background.width) x \(background.height); did the file change?")
        }
    }

    /// Measures how wide the stars are whose centres lie in the core of `sector`, which need not be one of the scan's sectors. The
    /// HDU is the configuration's.
    package func seeing(
        in reference: ImageReference, sector: Sector, background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> StarWidths {
        // The stars are those of the image itself, whichever image its sources are found in.
        var reference = reference
        reference.detection = nil
        let found = try extract(
            in: reference, sector: sector, background: background, configuration: StarWidths.search(configuration))
        return StarWidths(sample: found.sources)
    }

    /// The pixels of a rectangle, row by row, NaN where there is no data.
    package func pixels(
        path: String, hdu: Int?, layer: ImageLayer? = nil, rect: PixelRect
    ) throws(SkyError) -> [Float] {
        let image = try image(path, hdu, layer, nil)
        return try stages.during(.read) { () throws(SkyError) in try image.read(rect).values }
    }

    /// The image at the HDU that the configuration names, with artificial stars added if the reference has any.
    private func image(
        _ reference: ImageReference, _ configuration: ScanConfiguration
    ) throws(SkyError) -> ScanImage {
        let image = try image(reference.path, configuration.hdu, reference.layer, reference.companions)
        guard let injection = reference.injection else { return image }
        let origin = InjectedLight.Origin(
            injection: injection, width: image.info.width, height: image.info.height, gain: configuration.gain ?? 0,
            saturation: configuration.saturation)
        if light?.origin != origin { light = try InjectedLight(origin) }
        image.injected = light
        return image
    }

    package func image(
        _ path: String, _ hdu: Int?, _ layer: ImageLayer?, _ companions: Companions?, _ age: Age = .new
    ) throws(SkyError) -> ScanImage {
        if let memory { return try ScanImage(memory) }
        let image = try image(path, hdu, layer, at: Place(age: age, part: .image))
        guard let companions else { return try ScanImage(image) }
        return try ScanImage(
            image,
            noise: companions.noise.map { other throws(SkyError) in
                try companion(other, of: image, layer, at: Place(age: age, part: .noise))
            },
            mask: companions.mask.map { other throws(SkyError) in
                try companion(other, of: image, layer, at: Place(age: age, part: .mask))
            },
            kind: companions.kind)
    }

    /// The companion with the same HDU number as the scanned image, as in a file with weights for each of several images; or
    /// else the first.
    private func companion(
        _ companion: Companions.Image, of image: any PixelSource, _ layer: ImageLayer?, at place: Place
    ) throws(SkyError) -> any PixelSource {
        let open = { [self] (layer: ImageLayer?) throws(SkyError) -> any PixelSource in
            if let hdu = companion.hdu { return try self.image(companion.path, hdu, layer, at: place) }
            if let same = try? self.image(companion.path, image.info.hdu, layer, at: place),
                same.hasSize(of: image)
            {
                return same
            }
            return try self.image(companion.path, nil, layer, at: place)
        }
        if let layer = companion.layer { return try open(layer) }
        guard let own = layer?.ofCompanion, !own.isPlain else { return try open(nil) }
        // One map may hold for all planes.
        guard own.plane != nil, let same = try? open(own) else {
            return try open(ImageLayer(bayer: own.bayer))
        }
        return same
    }

    private func image(
        _ path: String, _ hdu: Int?, _ layer: ImageLayer?, at place: Place
    ) throws(SkyError) -> any PixelSource {
        if let supply, let elsewhere = remote[path] {
            let file = PixelFile(path: path, content: elsewhere.content, hdu: hdu, layer: layer)
            return try opened(.remote(file), at: place) { () throws(SkyError) in
                try supply.image(file, holder: elsewhere.holder)
            }
        }
        let location = located[path]?.place
        if location == nil { try bounds.check(path) }
        let open = { () throws(SkyError) in
            try FITSImage(path: path, at: location, hdu: hdu, layer: layer ?? ImageLayer())
        }
        guard let stamp = try? FileStamp(of: location ?? path) else {
            cached[place] = nil
            return try open()
        }
        return try opened(.file(FileKey(path: path, hdu: hdu, layer: layer, stamp: stamp)), at: place, open)
    }

    private func opened(
        _ key: Key, at place: Place, _ open: () throws(SkyError) -> any PixelSource
    ) throws(SkyError) -> any PixelSource {
        if let known = cached[place], known.key == key { return known.image }
        // The old image is closed first, because two gzipped images would take twice the memory.
        cached[place] = nil
        let image = try open()
        cached[place] = (key, image)
        return image
    }
}
