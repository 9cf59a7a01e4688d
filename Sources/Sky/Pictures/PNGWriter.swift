import Base
import CDeflate

/// Encodes pictures as PNG files (W3C, "Portable Network Graphics", third edition). libdeflate compresses them: for a picture of
/// the sky it needs a quarter of the time of zlib, which libpng uses, for a file of the same size.
enum PNGWriter {
    /// libdeflate's fastest level. The noise of the sky cannot be compressed much, whatever the effort.
    private static let level: Int32 = 1
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// The PNG file of a raster, as bytes.
    ///
    /// - Throws: `SkyError` if there is no memory for it.
    static func encode(_ raster: Raster) throws(SkyError) -> [UInt8] {
        // Eight bits for each of red, green and blue; the only compression and the only filters that there are; no interlacing.
        let header = bytes(of: raster.width) + bytes(of: raster.height) + [8, 2, 0, 0, 0]
        var file = signature
        append("IHDR", header, to: &file)
        append("IDAT", try compressed(rows(of: raster)), to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// The rows, each with its filter in front: 0, no filter. Filters help where neighbours are alike, and the noise of the sky is
    /// not.
    private static func rows(of raster: Raster) -> [UInt8] {
        let length = raster.width * 3
        var rows: [UInt8] = []
        rows.reserveCapacity(raster.height * (1 + length))
        for start in stride(from: 0, to: raster.bytes.count, by: max(length, 1)) {
            rows.append(0)
            rows += raster.bytes[start..<start + length]
        }
        return rows
    }

    private static func compressed(_ data: [UInt8]) throws(SkyError) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else {
            throw SkyError(.failed, "the picture cannot be encoded: there is too little memory")
        }
        defer { libdeflate_free_compressor(compressor) }
        // The bound is for the worst case, so that the data always fits.
        let bound = libdeflate_zlib_compress_bound(compressor, data.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            count = libdeflate_zlib_compress(compressor, data, data.count, buffer.baseAddress, buffer.count)
        }
    }

    /// Appends a chunk: the length of its data, its type, the data, and a CRC of type and data.
    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        file += bytes(of: data.count)
        let start = file.count
        file += Array(type.utf8)
        file += data
        let checksum = file[start...].withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        file += bytes(of: Int(checksum))
    }

    /// A number as PNG has it: four bytes, the highest first.
    private static func bytes(of number: Int) -> [UInt8] {
        let number = UInt32(clamping: number)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
