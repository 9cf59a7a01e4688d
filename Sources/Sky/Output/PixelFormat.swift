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

    /// The highest value that can be stored, if the format limits it. `nil` if no value in a frame comes near the limit, or if
    /// the scale follows the pixels.
    var ceiling: Double? {
        switch self {
        case .short: 65_535
        case .int: Double(Int32.max)
        case .byte, .long, .float, .double: nil
        }
    }
}
