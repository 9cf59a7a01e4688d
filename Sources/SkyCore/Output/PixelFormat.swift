/// How the pixels of an image are stored: the values of FITS's `BITPIX`.
public enum PixelFormat: Int, Sendable, CaseIterable {
    case byte = 8
    case short = 16
    case int = 32
    case long = 64
    case float = -32
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
