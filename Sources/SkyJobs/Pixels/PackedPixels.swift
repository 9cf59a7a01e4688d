import CZLIB
import NIOCore

/// Packs pixels for the wire, without loss. Whole numbers are sent as such, and other numbers as the bits of floats. The
/// four bytes of all numbers are separated into four byte streams (BYTE_STREAM_SPLIT in Apache Parquet). Each stream is
/// deflated, or sent as it is if deflating makes it no shorter.
///
/// A camera's 16-bit numbers need about a byte each in this form, because the streams of the sign and of the bits without
/// noise almost vanish. The bytes are: the form (0 floats, 1 whole numbers); then, for each of the four streams, the most
/// significant one first, its length (32 bits, little endian) and its bytes. A stream that has as many bytes as there are
/// pixels is not deflated.
enum PackedPixels {
    private enum Form: UInt8 {
        case floats = 0
        case integers = 1
    }

    /// This number stands for a missing pixel among whole numbers.
    private static let missing = Int32.min
    /// Up to this number, floats hold whole numbers exactly.
    private static let largestInteger: Float = 16_777_216

    /// - Parameter pixels: finite numbers, or NaN for missing pixels. The bits of a NaN are not kept.
    static func encode(_ pixels: [Float]) -> [UInt8] {
        let words = integers(pixels)
        let form = words == nil ? Form.floats : .integers
        let bits = words ?? pixels.map { $0.isNaN ? Float.nan.bitPattern : $0.bitPattern }
        var result = [form.rawValue]
        var stream = [UInt8](repeating: 0, count: bits.count)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            bits.withUnsafeBufferPointer { bits in
                stream.withUnsafeMutableBufferPointer { stream in
                    for index in bits.indices { stream[index] = UInt8(truncatingIfNeeded: bits[index] &>> shift) }
                }
            }
            let packed = deflated(stream) ?? stream
            let count = UInt32(packed.count)
            for byte in stride(from: UInt32(0), to: 32, by: 8) {
                result.append(UInt8(truncatingIfNeeded: count >> byte))
            }
            result += packed
        }
        return result
    }

    /// - Parameters:
    ///   - bytes: what a peer sent; it may be anything.
    ///   - count: how many pixels there must be.
    /// - Returns: the pixels, or `nil` if `encode` cannot have made these bytes from so many pixels.
    static func decode(_ bytes: ByteBuffer, count: Int) -> [Float]? {
        var bytes = bytes
        guard let form = bytes.readInteger(as: UInt8.self).flatMap(Form.init) else { return nil }
        var bits = [UInt32](repeating: 0, count: count)
        var stream = [UInt8](repeating: 0, count: count)
        for shift in stride(from: UInt32(24), through: 0, by: -8) {
            guard let length = bytes.readInteger(endianness: .little, as: UInt32.self), Int(length) <= count,
                let packed = bytes.readSlice(length: Int(length))
            else { return nil }
            let isWhole = packed.withUnsafeReadableBytes { source in
                guard source.count < count else {
                    stream.withUnsafeMutableBytes { $0.copyMemory(from: source) }
                    return true
                }
                return inflate(source, into: &stream)
            }
            guard isWhole else { return nil }
            bits.withUnsafeMutableBufferPointer { bits in
                stream.withUnsafeBufferPointer { stream in
                    for index in bits.indices { bits[index] |= UInt32(stream[index]) &<< shift }
                }
            }
        }
        guard bytes.readableBytes == 0 else { return nil }
        switch form {
        case .floats: return bits.map { Float(bitPattern: $0) }
        case .integers:
            return bits.map {
                let value = Int32(bitPattern: $0)
                return value == missing ? .nan : Float(value)
            }
        }
    }

    /// The pixels as whole numbers; `nil` if one of them is not a whole number. (A negative zero does not count as one,
    /// because it would lose its sign.)
    private static func integers(_ pixels: [Float]) -> [UInt32]? {
        var words = [UInt32](repeating: 0, count: pixels.count)
        for index in pixels.indices {
            let pixel = pixels[index]
            if abs(pixel) <= largestInteger, pixel == pixel.rounded(.towardZero),
                pixel != 0 || pixel.sign == .plus
            {
                words[index] = UInt32(bitPattern: Int32(pixel))
            } else if pixel.isNaN {
                words[index] = UInt32(bitPattern: missing)
            } else {
                return nil
            }
        }
        return words
    }

    // MARK: - zlib

    /// How many bytes of a stream are deflated as a trial before the whole stream: noise is not worth the time.
    private static let sample = 8192

    /// Deflates a stream. Returns `nil` if that makes it no shorter.
    private static func deflated(_ stream: [UInt8]) -> [UInt8]? {
        stream.withUnsafeBytes { source in
            if source.count > 8 * sample {
                let middle = source.count / 2
                let part = UnsafeRawBufferPointer(rebasing: source[middle..<middle + sample])
                guard let packed = deflate(part), packed.count < sample - sample / 32 else { return nil }
            }
            return deflate(source)
        }
    }

    private static func deflate(_ source: UnsafeRawBufferPointer) -> [UInt8]? {
        guard source.count > 1 else { return nil }
        var stream = z_stream()
        // zlib looks for runs and frequencies only: there is nothing else to find in noise, and this takes half the time.
        let status = deflateInit2_(
            &stream, 1, Z_DEFLATED, MAX_WBITS, 9, Z_RLE, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var packed = [UInt8](repeating: 0, count: source.count - 1)
        let isWhole = packed.withUnsafeMutableBufferPointer { output in
            // zlib does not write through this pointer.
            stream.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: Bytef.self).baseAddress)
            stream.avail_in = uInt(source.count)
            stream.next_out = output.baseAddress
            stream.avail_out = uInt(output.count)
            return CZLIB.deflate(&stream, Z_FINISH) == Z_STREAM_END
        }
        guard isWhole else { return nil }
        packed.removeLast(Int(stream.avail_out))
        return packed
    }

    private static func inflate(_ source: UnsafeRawBufferPointer, into stream: inout [UInt8]) -> Bool {
        var length = uLongf(stream.count)
        let status = uncompress(
            &stream, &length, source.bindMemory(to: Bytef.self).baseAddress, uLong(source.count))
        return status == Z_OK && Int(length) == stream.count
    }
}
