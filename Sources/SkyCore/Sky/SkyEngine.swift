import Glibc
import NIOCore
import Transport

/// Reads and scans images: what a worker process does all day. Blocking, one thread, and it may crash on a hostile
/// file with the C libraries it calls: never in the daemon.
///
/// Keeps the last image open, since the tasks of one worker mostly concern the same one.
package final class SkyEngine {
    /// What is open: a file as it is now, or what another node's file holds.
    private enum Key: Equatable {
        case file(FileKey)
        case remote(PixelFile)
    }

    private struct FileKey: Equatable {
        var path: String
        var hdu: Int?
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// The image, and in a comparison the one that it is compared with; the noise and the mask of each.
    private struct Place: Hashable {
        var age: Age
        var part: Part
    }
    enum Age { case new, old }
    /// The last is read for others.
    private enum Part { case image, noise, mask, served }
    private var cached: [Place: (key: Key, image: any PixelSource)] = [:]
    /// What of the task under way is read elsewhere, by the path.
    private var remote: [String: (content: FileContent, holder: PixelHolder)] = [:]
    /// `nil` where nothing is.
    private let supply: (any PixelSupply)?
    /// Files that were read through because they looked different.
    private var checked: [(path: String, content: FileContent)] = []
    /// The stars that were injected last, which the next task needs too.
    private var light: InjectedLight?

    /// The one image that it works on, where that is no file.
    private let memory: MemoryImage?

    package init() { (memory, supply) = (nil, nil) }

    init(_ image: MemoryImage) { (memory, supply) = (image, nil) }

    /// - Parameter supply: Where to get the pixels of files that cannot be opened here.
    init(supply: any PixelSupply) { (memory, self.supply) = (nil, supply) }

    /// Opens the image and tells its size; finds wrong, damaged and truncated files.
    ///
    /// - Parameter withContent: whether to read the file through for what it holds, or only some blocks.
    package func inspect(
        path: String, hdu: Int?, companions: Companions? = nil, withContent: Bool = false
    ) throws(SkyError) -> ImageInfo {
        let (image, noise, mask) = try image(path, hdu, companions).images
        var info = image.info
        (info.noiseHDU, info.maskHDU) = (noise?.info.hdu, mask?.info.hdu)
        if memory == nil {
            let content = { (path: String) throws(SkyError) in try FileContent(of: path, sampled: !withContent) }
            info.content = try content(path)
            info.noiseContent = try companions?.noise.map { image throws(SkyError) in try content(image.path) }
            info.maskContent = try companions?.mask.map { image throws(SkyError) in try content(image.path) }
        }
        info.header = image.header
        if hdu == nil {
            let (sky, others) = image.images()
            info.images = sky
            if !others.isEmpty { info.auxiliaries = others }
        }
        return info
    }

    /// Works on a file that holds what it did when it was first looked at, perhaps on another machine, and that nobody changes
    /// meanwhile. Only one that looks different, by size or time, is read through, and only once.
    ///
    /// - Parameter holder: A node that has the right one, if it is not here.
    /// - Throws: `SkyError` of kind `unavailable` where it holds something else: another node may have the right one.
    package func with<Result>(
        _ content: FileContent, of path: String, holder: PixelHolder? = nil, _ work: () throws -> Result
    ) throws -> Result {
        var before = stat()
        let elsewhere = supply == nil ? nil : holder
        guard stat(path, &before) == 0, elsewhere == nil || access(path, R_OK) == 0 else {
            // Without another node, whoever opens it says what is wrong.
            return try with(content, of: path, on: elsewhere, work)
        }
        do {
            try check(content, of: path, before)
        } catch {
            guard elsewhere != nil, error.kind == .unavailable else { throw error }
            return try with(content, of: path, on: elsewhere, work)
        }
        let result = try work()
        var after = stat()
        guard stat(path, &after) == 0, FileContent.stamp(after) == FileContent.stamp(before),
            (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino)
        else { throw SkyError(.failed, "\(FITSSniff.quoted(path)): it changed while it was read") }
        return result
    }

    private func with<Result>(
        _ content: FileContent, of path: String, on holder: PixelHolder?, _ work: () throws -> Result
    ) rethrows -> Result {
        remote[path] = holder.map { (content, $0) }
        defer { remote[path] = nil }
        return try work()
    }

    private func check(_ content: FileContent, of path: String, _ status: stat) throws(SkyError) {
        guard !content.resembles(status) else { return }
        let stamp = FileContent.stamp(status)
        let isSample = content.isSample ?? false
        var known = checked.first {
            $0.path == path && ($0.content.size, $0.content.modified) == stamp
                && ($0.content.isSample ?? false) == isSample
        }?.content
        if known == nil {
            let found = try FileContent(of: path, sampled: isSample)
            checked.removeAll { $0.path == path }
            checked.append((path, found))
            // As many as a worker may have to do with at a time.
            if checked.count > 16 { checked.removeFirst() }
            known = found
        }
        guard known?.digest != content.digest else { return }
        throw SkyError(
            .unavailable,
            "\(FITSSniff.quoted(path)): it is not the file that was looked at first; did it change, or do nodes have "
                + "different files under this name?")
    }

    /// The background meshes of a sector's core.
    package func background(
        path: String, companions: Companions? = nil, injection: Injection? = nil, sector: Sector,
        configuration: ScanConfiguration
    ) throws(SkyError) -> BackgroundTile {
        try configuration.validate()
        let image = try image(path, companions, injection, configuration)
        let pixels = try image.read(sector.core)
        return try BackgroundTile(
            pixels: pixels.values, sigmas: image.hasRelativeNoise ? pixels.sigmas : nil, sector: sector,
            configuration: configuration)
    }

    /// The sources that a sector owns, measured above the image's background.
    package func extract(
        path: String, companions: Companions? = nil, injection: Injection? = nil, sector: Sector,
        background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> SectorResult {
        try configuration.validate()
        let image = try image(path, companions, injection, configuration)
        let info = image.info
        try check(background, of: image)
        guard info.contains(sector.padded), info.contains(sector.core), sector.padded.contains(sector.core) else {
            throw SkyError(.badInput, "sector \(sector.index) is not inside \(FITSSniff.quoted(path))")
        }
        var result = try SectorScan(
            image: image, scope: .sector(sector), background: background, configuration: configuration
        ).run()
        result.injected = try image.injected?.stars(in: sector.core, of: image)
        return result
    }

    /// The objects that are larger than their sectors.
    package func join(
        path: String, companions: Companions? = nil, injection: Injection? = nil, union: SectorUnion,
        background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> JoinedObjects {
        try configuration.validate()
        let image = try image(path, companions, injection, configuration)
        try check(background, of: image)
        let info = image.info
        guard info.contains(union.rect), (union.pieces + union.taken).allSatisfy(info.contains),
            union.parts.allSatisfy({ info.contains($0.core) && ($0.rect.width == 0 || info.contains($0.rect)) })
        else {
            throw SkyError(.badInput, "sectors to be joined are not inside \(FITSSniff.quoted(path))")
        }
        return JoinedObjects(
            rect: union.rect,
            found: try SectorScan(
                image: image, scope: .union(union), background: background, configuration: configuration
            ).run())
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

    /// How wide the stars are that a sector owns.
    package func seeing(
        path: String, companions: Companions? = nil, injection: Injection? = nil, sector: Sector,
        background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> StarWidths {
        let found = try extract(
            path: path, companions: companions, injection: injection, sector: sector, background: background,
            configuration: StarWidths.search(configuration))
        return StarWidths(found.sources)
    }

    /// The pixels of a rectangle, row by row, NaN where there is no data.
    package func pixels(path: String, hdu: Int?, rect: PixelRect) throws(SkyError) -> [Float] {
        try image(path, hdu, nil).read(rect).values
    }

    /// The image with artificial stars in it, where there are any to be.
    private func image(
        _ path: String, _ companions: Companions?, _ injection: Injection?, _ configuration: ScanConfiguration
    ) throws(SkyError) -> ScanImage {
        let image = try image(path, configuration.hdu, companions)
        guard let injection else { return image }
        let origin = InjectedLight.Origin(
            injection: injection, width: image.info.width, height: image.info.height, gain: configuration.gain,
            saturation: configuration.saturation)
        if light?.origin != origin { light = try InjectedLight(origin) }
        image.injected = light
        return image
    }

    func image(
        _ path: String, _ hdu: Int?, _ companions: Companions?, _ age: Age = .new
    ) throws(SkyError) -> ScanImage {
        if let memory { return try ScanImage(memory) }
        let image = try image(path, hdu, at: Place(age: age, part: .image))
        guard let companions else { return try ScanImage(image) }
        return try ScanImage(
            image,
            noise: companions.noise.map { other throws(SkyError) in
                try companion(other, of: image, at: Place(age: age, part: .noise))
            },
            mask: companions.mask.map { other throws(SkyError) in
                try companion(other, of: image, at: Place(age: age, part: .mask))
            },
            kind: companions.kind)
    }

    /// The image with the number of the scanned one's, as in a file with weights for each of several images; or the first.
    private func companion(
        _ companion: Companions.Image, of image: any PixelSource, at place: Place
    ) throws(SkyError) -> any PixelSource {
        if let hdu = companion.hdu { return try self.image(companion.path, hdu, at: place) }
        if let twin = try? self.image(companion.path, image.info.hdu, at: place), twin.hasSize(of: image) {
            return twin
        }
        return try self.image(companion.path, nil, at: place)
    }

    private func image(_ path: String, _ hdu: Int?, at place: Place) throws(SkyError) -> any PixelSource {
        if let supply, let elsewhere = remote[path] {
            let file = PixelFile(path: path, content: elsewhere.content, hdu: hdu)
            return try opened(.remote(file), at: place) { () throws(SkyError) in
                try RemoteImage(file, holder: elsewhere.holder, supply: supply)
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            cached[place] = nil
            return try FITSImage(path: path, hdu: hdu)
        }
        let key = FileKey(
            path: path, hdu: hdu, device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
        return try opened(.file(key), at: place) { () throws(SkyError) in try FITSImage(path: path, hdu: hdu) }
    }

    private func opened(
        _ key: Key, at place: Place, _ open: () throws(SkyError) -> any PixelSource
    ) throws(SkyError) -> any PixelSource {
        if let known = cached[place], known.key == key { return known.image }
        // The old one goes first: two gzipped images would be twice in memory.
        cached[place] = nil
        let image = try open()
        cached[place] = (key, image)
        return image
    }

    /// A part of an image for another node.
    func part(_ request: PixelRequest) throws(SkyError) -> ByteBuffer {
        let name = FITSSniff.quoted(request.file.path)
        let place = Place(age: .new, part: .served)
        guard let image = try image(request.file.path, request.file.hdu, at: place) as? FITSImage else {
            throw SkyError(.unavailable, "\(name): it is not on this node")
        }
        switch request.part {
        case .header:
            let header = RemoteHeader(info: image.info, cards: image.header, coordinates: image.coordinates)
            do {
                return try WireCoder.encode(header)
            } catch {
                throw SkyError(.badInput, "\(name): its header cannot be sent: \(error)")
            }
        case .tile(let tile):
            guard let rect = PixelTiles(width: image.info.width, height: image.info.height).rect(of: tile) else {
                throw SkyError(.badInput, "\(name): there is no tile \(tile.column), \(tile.row) in it")
            }
            return ByteBuffer(bytes: PixelPlanes.encode(try image.read(rect)))
        }
    }
}
