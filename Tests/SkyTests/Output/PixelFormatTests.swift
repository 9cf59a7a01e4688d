import Fixtures
import Testing

@testable import Sky

@Suite struct PixelFormatTests {
    private func write(to path: String, _ body: (inout FITSWriter) -> Void) throws {
        let files = StagedFiles()
        try FITSWriter.write(to: path, as: .frame, among: files, body)
        try files.place()
    }

    /// What the file has where `pixels` was written to it, by the project's own reader.
    private func reread(_ pixels: [Float], width: Int, _ format: PixelFormat) throws -> [Float] {
        let folder = ScratchFolder()
        let height = pixels.count / width
        let coding = PixelCoding(format, for: pixels)
        try write(to: folder.file("a.fits")) { writer in
            writer.image(width: width, height: height, coding: coding)
            writer.card(FITSCard("OBJECT", .text("test"), ""))
            writer.pixels(pixels, coding: coding)
        }
        let image = try FITSImage(path: folder.file("a.fits"), hdu: nil)
        #expect(image.header.contains { $0.hasPrefix("BITPIX  = \(Self.padded(format.rawValue)) /") })
        return try image.read(PixelRect(x: 0, y: 0, width: width, height: height))
    }

    @Test func `sixteen bits are unsigned, and values beyond their range are clipped`() throws {
        let wild: [Float] = [-1e30, -5, 0, 1, 1.4, 1.6, 60_000, 65_535, 65_536, 1e30, .infinity, .nan]
        let read = try reread(wild, width: 4, .short)
        #expect(read.dropLast() == [1, 1, 1, 1, 1, 2, 60_000, 65_535, 65_535, 65_535, 65_535])
        #expect(read.last?.isNaN == true)
    }

    @Test func `more bits have a wider range, and clip too`() throws {
        let wild: [Float] = [-1e30, -3.6, 0, 16_777_216, 1e30, .nan]
        let int = try reread(wild, width: 3, .int)
        #expect(int.dropLast() == [-2_147_483_648, -4, 0, 16_777_216, 2_147_483_648])
        let long = try reread(wild, width: 3, .long)
        #expect(long.dropLast() == [-9_223_372_036_854_775_808, -4, 0, 16_777_216, 9_223_372_036_854_775_808])
        #expect(int.last?.isNaN == true && long.last?.isNaN == true)
    }

    @Test func `eight bits cover the range of the pixels, however small or large`() throws {
        let even = try reread([7, 7, 7, 7], width: 2, .byte)
        #expect(even == [7, 7, 7, 7])
        let read = try reread([-100, 0, 1000, .nan], width: 2, .byte)
        #expect(read[0] == -100 && read[2] == 1000)
        #expect(abs(read[1]) <= 1100 / 254 / 2 + 1e-3)
        #expect(read[3].isNaN)
        let none = PixelCoding(.byte, for: [.nan, .nan])
        #expect(none.blank == 255 && none.zero == 0 && none.step == 1)
    }

    @Test func `the cards for scale and blank are written only where needed`() throws {
        func header(_ pixels: [Float], _ format: PixelFormat) throws -> String {
            let folder = ScratchFolder()
            let coding = PixelCoding(format, for: pixels)
            try write(to: folder.file("a.fits")) { writer in
                writer.image(width: pixels.count, height: 1, coding: coding)
                writer.pixels(pixels, coding: coding)
            }
            return String(decoding: folder.bytes("a.fits").prefix(2880), as: UTF8.self)
        }
        let short = try header([1, 2], .short)
        #expect(short.contains("BZERO   =                32768 /"))
        #expect(short.contains("BSCALE  =                    1 /"))
        #expect(!short.contains("BLANK"))
        let spoilt = try header([1, .nan], .short)
        #expect(spoilt.contains("BLANK   =               -32768 /"))
        for format in [PixelFormat.float, .double] {
            let plain = try header([1, .nan], format)
            #expect(!plain.contains("BLANK") && !plain.contains("BZERO"))
        }
        let int = try header([1, 2], .int)
        #expect(!int.contains("BZERO"))
    }

    /// A number as the header has it.
    private static func padded(_ value: Int) -> String {
        String(repeating: " ", count: 20 - "\(value)".count) + "\(value)"
    }
}
