import Fixtures
import Testing

@testable import Sky

@Suite struct StoredFrameTests {
    @Test(arguments: PixelFormat.allCases)
    func `a stored frame is exact to half a quantum, and missing pixels stay missing`(format: PixelFormat) throws {
        var recipe = SkySynthesis()
        recipe.width = 90
        recipe.height = 70
        recipe.stars = 40
        recipe.nanBlock = true
        recipe.cosmicRays = 4
        recipe.bitpix = format.rawValue
        try recipe.validate()
        let frame = recipe.render()
        let folder = ScratchFolder()
        try frame.write(to: folder.file("a.fits"))
        let image = try FITSImage(path: folder.file("a.fits"), hdu: nil)
        let read = try image.read(PixelRect(x: 0, y: 0, width: 90, height: 70))
        let quantum = format.rawValue < 0 ? 0 : PixelCoding(format, for: frame.pixels).step
        #expect(image.header.contains { $0.hasPrefix("BITPIX  =") && $0.contains(" \(format.rawValue) /") })
        #expect(image.wcs != nil)
        let limit = 0.5 * quantum * (1 + 1e-5)
        var worst = 0.0
        #expect(read.count == frame.pixels.count)
        for (back, was) in zip(read, frame.pixels) {
            #expect(back.isNaN == was.isNaN)
            if !was.isNaN { worst = max(worst, abs(Double(back) - Double(was))) }
        }
        #expect(worst <= limit)
    }

    @Test func `pixels are limited by the saturation level and by the range of the format`() {
        var recipe = SkySynthesis()
        #expect(recipe.ceiling == 60_000)
        recipe.saturation = 0
        #expect(recipe.ceiling == nil)
        recipe.bitpix = 16
        #expect(recipe.ceiling == 65_535)
        recipe.saturation = 200_000
        #expect(recipe.ceiling == 65_535)
        recipe.bitpix = 64
        #expect(recipe.ceiling == 200_000)
    }
}
