/// Three small pictures of a change: the reference resampled onto the new image's pixels and the new image, with the same greys,
/// and their difference as it was searched.
public struct EpochCutouts: Hashable, Codable, Sendable {
    /// PNG files.
    public let old: [UInt8]
    public let new: [UInt8]
    /// In units of the noise, with the same greys in all pictures; `nil` from a node of a version that did not draw it.
    public let difference: [UInt8]?
    /// Pixels of the new image along a side.
    public let side: Int

    package init(old: [UInt8], new: [UInt8], difference: [UInt8]?, side: Int) {
        (self.old, self.new, self.difference, self.side) = (old, new, difference, side)
    }

    /// About what they take in memory.
    package var byteCount: Int { old.count + new.count + (difference?.count ?? 0) }
}

extension PixelRect {
    /// The part of the rectangle that lies in an image of `width` x `height` pixels; `nil` where that is nothing.
    func clipped(width: Int, height: Int) -> PixelRect? {
        let (left, top) = (max(x, 0), max(y, 0))
        let (right, bottom) = (min(x + self.width, width), min(y + self.height, height))
        guard left < right, top < bottom else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}
