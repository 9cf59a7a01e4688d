import Base
import Fixtures
import Testing
import Transport

@testable import Sky

@Suite struct ConvolutionKernelTests {
    private func kernel(_ text: String) throws -> ConvolutionKernel { try ConvolutionKernel(file: Array(text.utf8)) }

    @Test func `a SExtractor filter file is read`() throws {
        let kernel = try kernel("CONV NORM\n# a row\n 1 2 1\r\n2\t4 2.0\n1e0 2 1 # last\n\n")
        #expect(kernel.width == 3 && kernel.height == 3 && kernel.isNormed)
        let weights = DetectionKernel(.kernel(kernel))
        #expect(weights.normed == DetectionKernel(.pyramid).normed && weights.radius == 1)
        let wide = try self.kernel("CONV NONORM\n0.5 1 -0.5 1 0.5\n")
        #expect(wide.width == 5 && wide.height == 1 && !wide.isNormed && wide.sum == 3.5)
        #expect(DetectionKernel(.kernel(wide)).normed == [0.5, 1, -0.5, 1, 0.5])
    }

    @Test(arguments: [
        "", "#\n", "1 2 1\n", "CONV\n1\n", "CONV NORM\n", "CONV NORM\n1 2\n2 1\n", "CONV NORM\n1 2 1\n1 2\n1 2 1\n",
        "CONV NORM\n1 nan 1\n", "CONV NORM\n1 inf 1\n", "CONV NORM\n1 x 1\n", "CONV NORM\n0 0 0\n", "CONV NORM\n1e30\n",
        "CONV NORM\n1e39\n", "CONV NORM\n" + String(repeating: "1 ", count: 33) + "\n",
        "CONV NORM\n" + String(repeating: "1\n", count: 33), "CONV NORM \u{1B}[2J\n1\n",
        "SIMPLE  =                    T",
        "CONV NORM\n1 \u{1B}[2J 1\n", String(repeating: "\0", count: 70_000),
    ])
    func `a malformed filter is refused in one line`(text: String) throws {
        let error = try #require(
            SkyError.thrown { () throws(SkyError) in try ConvolutionKernel(file: Array(text.utf8)) })
        #expect(error.kind == .badInput && error.message.count < 200)
        #expect(!error.message.contains("\n") && !error.message.contains("\u{1B}"))
    }

    @Test func `a kernel survives the wire, and a malformed one is refused on arrival`() throws {
        let filter = DetectionFilter.kernel(
            try ConvolutionKernel(width: 3, height: 1, weights: [0.1, -2, 7], isNormed: false))
        #expect(try WireCoder.decode(DetectionFilter.self, from: WireCoder.encode(filter)) == filter)
        struct Other: Codable { var width = 2, height = 1, weights = PackedFloats([1, 1]), isNormed = true }
        #expect(throws: (any Error).self) {
            try WireCoder.decode(ConvolutionKernel.self, from: WireCoder.encode(Other()))
        }
    }

    @Test func `sectors of any size give the same sources with a kernel`() throws {
        var frame = TestFrame(width: 260, height: 230, seed: 12)
        frame.addStars(200)
        frame.addStar(x: 128, y: 120, flux: 300_000, sigma: 12, flattening: 0.6)
        let weights = (0..<7 * 3).map { Float(1 + ($0 * 5) % 7) }
        for isNormed in [true, false] {
            func scanned(_ sector: Int?) throws -> [Source] {
                var configuration = ScanConfiguration()
                (configuration.sectorSize, configuration.margin) = (sector, 0)
                configuration.filter = .kernel(
                    try ConvolutionKernel(
                        width: 3, height: 7, weights: isNormed ? weights : weights.map { $0 / 60 }, isNormed: isNormed))
                return try SkyScan(configuration).catalogue(
                    of: .pixels(width: frame.width, height: frame.height, frame.pixels)
                ).sources.map {
                    var source = $0
                    source.sector = 0
                    return source
                }
            }
            let whole = try scanned(nil)
            #expect(whole.count > 60)
            #expect(try scanned(64) == whole)
        }
    }
}
