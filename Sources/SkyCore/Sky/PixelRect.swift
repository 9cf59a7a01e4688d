/// A half-open rectangle of pixels, counted from 0: columns `x..<x+width`, rows `y..<y+height`.
///
/// FITS itself counts from 1; the conversion happens where a catalogue is written, nowhere else.
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
