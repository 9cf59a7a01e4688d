/// How the pixels of an image are stored: the values of FITS's `BITPIX`.
public enum PixelFormat: Int, Sendable, CaseIterable {
    /// Bytes, spread over the range of the pixels.
    case byte = 8
    /// 16-bit integers, unsigned by their zero point.
    case short = 16
    /// 32-bit integers.
    case int = 32
    /// 64-bit integers.
    case long = 64
    /// 32-bit floating point.
    case float = -32
    /// 64-bit floating point.
    case double = -64

    /// Highest value that can be stored where the format sets it; `nil` where nothing in a frame gets near it, or where
    /// the scale follows the pixels.
    var ceiling: Double? {
        switch self {
        case .short: 65_535
        case .int: Double(Int32.max)
        case .byte, .long, .float, .double: nil
        }
    }
}
