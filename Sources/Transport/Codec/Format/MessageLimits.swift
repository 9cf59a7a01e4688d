/// What bounds every message, for the side that writes it and for the side that reads it.
enum MessageLimits {
    /// Messages are shorter than this, so that offsets fit in 32 bits and sums of two never overflow.
    static let byteCount = Int(Int32.max)

    /// How deep the encoder nests, and how deep a reader follows unless told otherwise.
    static let depth = 64
}
