import Base
import CPNG

/// Encodes pictures by libpng's simplified interface (libpng manual, section V).
enum PNGWriter {
    /// The PNG file of a raster, as bytes.
    ///
    /// - Throws: `SkyError` with libpng's own words.
    static func encode(_ raster: Raster) throws(SkyError) -> [UInt8] {
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        image.width = png_uint_32(clamping: raster.width)
        image.height = png_uint_32(clamping: raster.height)
        image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        // Without row filters. Filters help where neighbours are alike; the noise of the sky is not: libpng's choice of filters
        // takes four to five times as long, and its files are a quarter larger.
        image.flags = png_uint_32(PNG_IMAGE_FLAG_FAST)
        // Incompressible pixels grow by zlib's block headers and PNG's chunk headers, far less than 1 %.
        let capacity = raster.bytes.count + raster.bytes.count / 100 + raster.height + 4096
        var size = png_alloc_size_t(capacity)
        var done: Int32 = 0
        var file = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            done = png_image_write_to_memory(&image, buffer.baseAddress, &size, 0, raster.bytes, 0, nil)
            count = done == 0 ? 0 : min(Int(size), capacity)
        }
        guard done != 0, !file.isEmpty else {
            let words = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw SkyError(.failed, "the picture cannot be encoded: libpng says \(words)")
        }
        file.reserveCapacity(0)
        return file
    }
}
