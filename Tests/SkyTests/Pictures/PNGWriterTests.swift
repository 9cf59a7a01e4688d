import CPNG
import Testing

@testable import Sky

@Suite struct PNGWriterTests {
    @Test func `a file has the pixels that were drawn`() throws {
        var raster = Raster(width: 37, height: 5)
        for y in 0..<5 { raster.setGreys([UInt8](repeating: UInt8(y * 50), count: 37)[...], y: y) }
        raster.fill(Raster.Ink(red: 1, green: 0.5, blue: 0, opacity: 1), 3..<9, y: 2)
        let file = try PNGWriter.encode(raster)
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        #expect(png_image_begin_read_from_memory(&image, file, file.count) != 0)
        image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        #expect(image.width == 37 && image.height == 5)
        var bytes = [UInt8](repeating: 0, count: 37 * 5 * 3)
        #expect(png_image_finish_read(&image, nil, &bytes, 0, nil) != 0)
        for y in 0..<5 {
            for x in 0..<37 {
                #expect(Array(bytes[(y * 37 + x) * 3..<(y * 37 + x + 1) * 3]) == raster.colour(x: x, y: y))
            }
        }
    }
}
