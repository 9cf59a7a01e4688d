/// Three small pictures of a change: the reference resampled onto the new image's pixels, the new image with the same greys,
/// and their difference in the form in which changes are searched.
public struct EpochCutouts: Hashable, Codable, Sendable {
    /// PNG files.
    public let old: [UInt8]
    public let new: [UInt8]
    /// The difference in units of the noise, with the same greys in all pictures; `nil` from a node whose version did not draw
    /// it.
    public let difference: [UInt8]?
    /// The number of pixels of the new image along a side.
    public let side: Int

    package init(old: [UInt8], new: [UInt8], difference: [UInt8]?, side: Int) {
        (self.old, self.new, self.difference, self.side) = (old, new, difference, side)
    }

    /// About how much memory the pictures take.
    package var byteCount: Int { old.count + new.count + (difference?.count ?? 0) }
}

extension PixelRect {
    /// The part of the rectangle that lies in an image of `width` x `height` pixels; `nil` if there is none.
    func clipped(width: Int, height: Int) -> PixelRect? {
        let (left, top) = (max(x, 0), max(y, 0))
        let (right, bottom) = (min(x + self.width, width), min(y + self.height, height))
        guard left < right, top < bottom else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }
}

extension EpochCutouts {
    /// The largest number of bytes of one picture; usual are some hundred kilobytes.
    private static let byteLimit = 4 << 20

    package var isSound: Bool {
        (1...1000).contains(side) && [old, new, difference ?? []].allSatisfy { $0.count <= EpochCutouts.byteLimit }
    }
}
