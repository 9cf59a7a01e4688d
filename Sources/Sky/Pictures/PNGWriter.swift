import Base
import CDeflate

/// Encodes drawings and cut-outs as PNG files (W3C, "Portable Network Graphics", third edition). libdeflate compresses them: for
/// a picture of the sky it needs a quarter of the time of zlib, which libpng uses, for a file of the same size.
enum PNGWriter {
    /// libdeflate's fastest level. The noise of the sky cannot be compressed much, whatever the effort.
    private static let level: Int32 = 1
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The PNG file of a raster, as bytes.
    ///
    /// - Throws: `SkyError` if there is no memory for it.
    static func encode(_ raster: Raster) throws(SkyError) -> [UInt8] { try encode(raster.rows, header(raster)) }

    /// The chunk behind the header that names the program (section 11.3.3.2).
    static let mark = chunk("tEXt", Array("Software\0skynode".utf8))
    /// The place of the mark in a file: the header has 25 bytes.
    static let markPlace = signature.count + 25

    private static func header(_ raster: Raster) -> [UInt8] {
        // Eight bits for each of red, green and blue (2); the only compression and the only filters that there are; no interlacing.
        chunk("IHDR", bytes(of: raster.width) + bytes(of: raster.height) + [8, 2, 0, 0, 0])
    }

    /// - Parameter header: the chunks before the pixels.
    private static func encode(_ rows: [UInt8], _ header: [UInt8]) throws(SkyError) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else {
            throw SkyError(.failed, "the picture cannot be encoded: there is too little memory")
        }
        defer { libdeflate_free_compressor(compressor) }
        let start = signature + header + mark
        let end = chunk("IEND", [])
        // The bound is for the worst case, so that the data always fits.
        let bound = libdeflate_zlib_compress_bound(compressor, rows.count)
        let frame = 3 * MemoryLayout<UInt32>.size
        return [UInt8](unsafeUninitializedCapacity: start.count + frame + bound + end.count) { file, count in
            func put(_ bytes: [UInt8]) {
                count +=
                    UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(file)[count...])
                    .initializeMemory(as: UInt8.self, fromContentsOf: bytes).count
            }
            put(start)
            // The data is compressed into its place. Its length and its checksum are known only then.
            let place = count + frame / 3 * 2
            let length = libdeflate_zlib_compress(
                compressor, rows, rows.count, file.baseAddress.map { $0 + place }, bound)
            put(bytes(of: length) + Array("IDAT".utf8))
            count += length
            put(checksum(UnsafeRawBufferPointer(file)[(place - frame / 3)..<count]))
            put(end)
        }
    }

    /// A chunk: the length of its data, its type, the data, and a CRC of type and data.
    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let content = Array(type.utf8) + data
        return bytes(of: data.count) + content + content.withUnsafeBytes { checksum($0[...]) }
    }

    private static func checksum(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        return Self.bytes(of: Int(libdeflate_crc32(0, bytes.baseAddress, bytes.count)))
    }

    /// A number as PNG has it: four bytes, the highest first.
    private static func bytes(of number: Int) -> [UInt8] {
        let number = UInt32(clamping: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
