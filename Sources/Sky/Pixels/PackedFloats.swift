/// Floats that are encoded as little-endian bytes: four bytes each in any codec, and every bit pattern survives, NaN too.
public struct PackedFloats: Hashable, Codable, Sendable {
    private var bytes: [UInt8]

    /// Packs the bit patterns of `values`.
    public init(_ values: [Float]) {
        bytes = []
        bytes.reserveCapacity(values.count * 4)
        for value in values {
            let bits = value.bitPattern
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
            }
        }
    }

    /// The number of floats; an incomplete one at the end is ignored.
    public var count: Int { bytes.count / 4 }

    /// The floats.
    public var values: [Float] {
        (0..<count).map { index in
            var bits: UInt32 = 0
            for byte in 0..<4 { bits |= UInt32(bytes[index * 4 + byte]) << UInt32(byte * 8) }
            return Float(bitPattern: bits)
        }
    }

    /// Copies the floats, as the pixels of `rect`, into an image of `width` columns that contains `rect`. Does nothing if their
    /// number differs from the rectangle's.
    func copy(to rect: PixelRect, of pixels: inout [Float], width: Int) {
        guard count == rect.area, !pixels.isEmpty else { return }
        let values = values
        for row in 0..<rect.height {
            let start = (rect.y + row) * width + rect.x
            pixels.replaceSubrange(start..<start + rect.width, with: values[row * rect.width..<(row + 1) * rect.width])
        }
    }
}
