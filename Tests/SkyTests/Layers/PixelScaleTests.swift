import Fixtures
import Glibc
import Testing

@testable import Sky

/// Values that 32-bit floats do not hold.
@Suite struct PixelScaleTests {
    let folder = TemporaryFolder()

    private var frame: TestFrame {
        var frame = TestFrame(width: 300, height: 260, seed: 7)
        frame.addStars(60)
        // Whole numbers, which every type of pixel has.
        frame.pixels = frame.pixels.map { $0.rounded() }
        return frame
    }

    private func scan(_ array: FITSArray, _ configuration: ScanConfiguration = ScanConfiguration()) throws -> Catalogue
    {
        try SkyScan(configuration).catalogue(of: .file(folder.write(array.primary)))
    }

    @Test(arguments: [-100, -75, -60, -40, 40, 65, 90, 100, 110])
    func `the same image in units of any power of two has the same sources`(power: Int) throws {
        var camera = ScanConfiguration()
        camera.saturation = 1500
        camera.gain = 2
        camera.columns = ["FLUXERR_ISO", "ERRA_IMAGE"]
        let plain = try scan(FITSArray(frame), camera)
        var array = FITSArray(frame)
        let unit = scalbn(1, Int32(power))
        array.values = array.values.map { $0 * unit }
        (camera.saturation, camera.gain) = (1500 * unit, 2 / unit)
        let found = try scan(array, camera)
        #expect(plain.sources.count > 30 && plain.sources.contains { $0.flags & 4 != 0 })
        #expect(found.sources.count == plain.sources.count)
        for (one, other) in zip(found.sources, plain.sources) {
            #expect(one.x == other.x && one.y == other.y && one.flags == other.flags)
            #expect(one.fluxAuto == other.fluxAuto * unit && one.fluxErrorAuto == other.fluxErrorAuto * unit)
            #expect(one.fluxesAperture == other.fluxesAperture.map { $0 * unit })
            let errors = [one, other].compactMap(\.further?.fluxErrorIsophotal)
            #expect(errors.count == 2 && errors[1] > 0 && errors[0] == errors[1] * unit)
            #expect(one.background == other.background * unit && one.threshold == other.threshold * unit)
        }
    }

    @Test(arguments: [64, -64, 32])
    func `a background of a thousand million does not change the sources`(bitpix: Int) throws {
        let plain = try scan(FITSArray(frame, bitpix: bitpix))
        var array = FITSArray(frame, bitpix: bitpix)
        array.values = array.values.map { $0 + 1e9 }
        let found = try scan(array)
        #expect(found.info.layer?.scale != nil)
        #expect(plain.info.layer == nil)
        #expect(found.sources.count == plain.sources.count && plain.sources.count > 30)
        for (one, other) in zip(found.sources, plain.sources) {
            #expect(hypot(one.x - other.x, one.y - other.y) < 0.01)
            #expect(abs(one.fluxAuto - other.fluxAuto) < 0.001 * abs(other.fluxAuto) + 1)
            #expect(abs(one.background - other.background - 1e9) < 1)
        }
    }

    @Test func `a level within the precision of floats is left as it is`() throws {
        for bitpix in [16, 32, 64, -32, -64] {
            #expect(try scan(FITSArray(frame, bitpix: bitpix)).info.layer == nil, "\(bitpix)")
        }
        // The value for missing pixels does not affect the others.
        var array = FITSArray(frame)
        for index in 0..<60_000 { array.values[index] = -1e30 }
        #expect(try scan(array).info.layer == nil)
    }

    @Test func `an image of one value, of none and of extremes is scanned without a scale`() throws {
        for value in [0.0, 1e9, 1e30, -1e38, .nan, .infinity] {
            var array = FITSArray(frame)
            array.values = array.values.map { _ in value }
            let info = try SkyEngine().inspect(path: folder.write(array.primary), hdu: nil)
            #expect(info.layer?.scale == nil, "\(value)")
        }
        var wild = FITSArray(frame, bitpix: -64)
        for index in wild.values.indices { wild.values[index] = index % 2 == 0 ? 1.7e308 : -1.7e308 }
        let info = try SkyEngine().inspect(path: folder.write(wild.primary), hdu: nil)
        #expect((try? info.validate()) != nil)
    }
}
