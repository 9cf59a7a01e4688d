import Glibc

/// Reads and scans images: what a worker process does all day. Blocking, one thread, and it may crash on a hostile
/// file with the C libraries it calls: never in the daemon.
///
/// Keeps the last image open, since the tasks of one worker mostly concern the same one.
package final class SkyEngine {
    private struct Key: Equatable {
        var path: String
        var hdu: Int?
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    private var cached: (key: Key, image: FITSImage)?
    /// Files that were read through because they looked different.
    private var checked: [(path: String, content: FileContent)] = []

    package init() {}

    /// Opens the image and tells its size; finds wrong, damaged and truncated files.
    ///
    /// - Parameter withContent: whether to read the file through and tell what it holds.
    package func inspect(path: String, hdu: Int?, withContent: Bool = false) throws(SkyError) -> ImageInfo {
        let image = try image(path, hdu)
        var info = image.info
        if withContent { info.content = try FileContent(of: path) }
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
    /// - Throws: `SkyError` of kind `unavailable` where it holds something else: another node may have the right one.
    package func with<Result>(
        _ content: FileContent, of path: String, _ work: () throws -> Result
    ) throws -> Result {
        var before = stat()
        // Whoever opens it says what is wrong.
        guard stat(path, &before) == 0 else { return try work() }
        try check(content, of: path, before)
        let result = try work()
        var after = stat()
        guard stat(path, &after) == 0, FileContent.stamp(after) == FileContent.stamp(before),
            (after.st_dev, after.st_ino) == (before.st_dev, before.st_ino)
        else { throw SkyError(.failed, "\(FITSSniff.quoted(path)): it changed while it was read") }
        return result
    }

    private func check(_ content: FileContent, of path: String, _ status: stat) throws(SkyError) {
        guard !content.resembles(status) else { return }
        let stamp = FileContent.stamp(status)
        var known = checked.first { $0.path == path && ($0.content.size, $0.content.modified) == stamp }?.content
        if known == nil {
            let found = try FileContent(of: path)
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
        path: String, sector: Sector, configuration: ScanConfiguration
    ) throws(SkyError) -> BackgroundTile {
        try configuration.validate()
        let image = try image(path, configuration.hdu)
        return try BackgroundTile(pixels: image.read(sector.core), sector: sector, configuration: configuration)
    }

    /// The sources that a sector owns, measured above the image's background.
    package func extract(
        path: String, sector: Sector, background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> SectorResult {
        try configuration.validate()
        let image = try image(path, configuration.hdu)
        let info = image.info
        guard info.width == background.width, info.height == background.height else {
            throw SkyError(
                .badInput,
                "\(FITSSniff.quoted(path)): \(info.width) x \(info.height) pixels, but its background was measured on"
                    + " \(background.width) x \(background.height); did the file change?")
        }
        guard info.contains(sector.padded), info.contains(sector.core), sector.padded.contains(sector.core) else {
            throw SkyError(.badInput, "sector \(sector.index) is not inside \(FITSSniff.quoted(path))")
        }
        return try SectorScan(image: image, sector: sector, background: background, configuration: configuration).run()
    }

    /// How wide the stars are that a sector owns.
    package func seeing(
        path: String, sector: Sector, background: BackgroundMap, configuration: ScanConfiguration
    ) throws(SkyError) -> StarWidths {
        let found = try extract(
            path: path, sector: sector, background: background, configuration: StarWidths.search(configuration))
        return StarWidths(found.sources)
    }

    /// The pixels of a rectangle, row by row, NaN where there is no data.
    package func pixels(path: String, hdu: Int?, rect: PixelRect) throws(SkyError) -> [Float] {
        try image(path, hdu).read(rect)
    }

    private func image(_ path: String, _ hdu: Int?) throws(SkyError) -> FITSImage {
        var status = stat()
        if stat(path, &status) == 0 {
            let key = Key(
                path: path, hdu: hdu, device: UInt(status.st_dev), inode: UInt(status.st_ino),
                size: Int(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            if let cached, cached.key == key { return cached.image }
            // The old one goes first: two gzipped images would be twice in memory.
            cached = nil
            let image = try FITSImage(path: path, hdu: hdu)
            cached = (key, image)
            return image
        }
        cached = nil
        return try FITSImage(path: path, hdu: hdu)
    }
}

extension PixelRect {
    /// Whether `other` lies whole inside.
    func contains(_ other: PixelRect) -> Bool {
        other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
    }
}
