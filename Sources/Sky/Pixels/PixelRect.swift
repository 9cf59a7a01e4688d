import Base

/// A half-open rectangle of pixels, counted from 0: columns `x..<x+width`, rows `y..<y+height`.
///
/// FITS itself counts from 1. Only the code that writes a catalogue converts the numbers.
public struct PixelRect: Hashable, Codable, Sendable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }
}

// These functions are for rectangles inside an image. Those of a peer are checked by `ImageInfo.contains` first.
extension PixelRect {
    /// The first column after it.
    package var right: Int { x + width }
    /// The first row after it.
    package var bottom: Int { y + height }
    /// Number of pixels.
    package var area: Int { width * height }

    /// Whether the rectangles have a pixel in common.
    func intersects(_ other: PixelRect) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }

    /// The smallest rectangle that holds both.
    package func union(_ other: PixelRect) -> PixelRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelRect(
            x: left, y: top, width: max(right, other.right) - left, height: max(bottom, other.bottom) - top)
    }

    /// Whether all of `other` lies inside.
    package func contains(_ other: PixelRect) -> Bool {
        other.x >= x && other.y >= y && other.right <= right && other.bottom <= bottom
    }

    /// The rectangle with a rim of `rim` pixels, clipped to an image of `width` x `height` pixels.
    func grown(by rim: Int, width: Int, height: Int) -> PixelRect {
        let left = max(0, x - rim)
        let top = max(0, y - rim)
        return PixelRect(
            x: left, y: top, width: min(width, right + rim) - left, height: min(height, bottom + rim) - top)
    }
}

// These checks are for rectangles that another process names. No calculation with them may overflow.
extension PixelRect {
    /// The places and sizes that an image may have. FITS axes are counted in 32 bits here, so that the sum of a place, a size
    /// and a rim, and the product of two sizes, do not overflow.
    package static let limit = Int(Int32.max)

    package func validate() throws(SkyError) {
        let places = 0...PixelRect.limit
        try SkyError.unless(
            places.contains(x) && places.contains(y) && places.contains(width) && places.contains(height)
                && places.contains(right) && places.contains(bottom),
            "a rectangle that no image has")
    }

    /// Whether it is a non-empty part of an image of `width` x `height` pixels; safe for any numbers.
    func isInside(width: Int, height: Int) -> Bool {
        x >= 0 && y >= 0 && self.width > 0 && self.height > 0 && x < width && y < height
            && self.width <= width - x && self.height <= height - y
    }
}
