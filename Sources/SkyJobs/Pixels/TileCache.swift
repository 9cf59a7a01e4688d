import NIOCore
import Sky

/// Parts of images, kept under what their files hold, wherever the files came from. The parts that were used last are kept,
/// up to a number of bytes.
struct TileCache {
    /// Identifies a part, whatever its file is called.
    struct Key: Hashable {
        var digest: [UInt8]
        /// When the file was modified, if the digest is that of a sample only: a sample may miss a small change.
        var modified: Int?
        var hdu: Int?
        var layer: ImageLayer?
        var part: PixelRequest.Part

        init(_ request: PixelRequest) {
            let content = request.file.content
            (digest, hdu, layer, part) = (content.digest, request.file.hdu, request.file.layer, request.part)
            modified = content.isSample == true ? content.modified : nil
        }
    }

    private struct Entry {
        var bytes: ByteBuffer
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    /// Keys in the order of their uses. A key that was used again later is skipped.
    private var uses: [(key: Key, use: UInt64)] = []
    private var firstUse = 0
    private var clock: UInt64 = 0
    private(set) var byteCount = 0

    /// - Parameter limit: how many bytes are kept. A part that is larger than that is not kept.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    mutating func value(_ key: Key) -> ByteBuffer? {
        guard let bytes = entries[key]?.bytes else { return nil }
        touch(key)
        return bytes
    }

    mutating func insert(_ key: Key, _ bytes: ByteBuffer) {
        let size = bytes.storageCapacity
        guard size <= limit else { return }
        if let old = entries.removeValue(forKey: key) { byteCount -= old.bytes.storageCapacity }
        byteCount += size
        entries[key] = Entry(bytes: bytes, lastUse: 0)
        touch(key)
        while byteCount > limit { removeOldest() }
    }

    private mutating func touch(_ key: Key) {
        clock += 1
        entries[key]?.lastUse = clock
        uses.append((key, clock))
        // The skipped keys are removed when they are most of the list.
        if uses.count > 64, uses.count > 4 * entries.count {
            uses = uses[firstUse...].filter { entries[$0.key]?.lastUse == $0.use }
            firstUse = 0
        }
    }

    mutating func removeAll() { self = TileCache(limit: limit) }

    private mutating func removeOldest() {
        while firstUse < uses.count {
            let (key, use) = uses[firstUse]
            firstUse += 1
            guard let entry = entries[key], entry.lastUse == use else { continue }
            entries[key] = nil
            byteCount -= entry.bytes.storageCapacity
            return
        }
    }
}
