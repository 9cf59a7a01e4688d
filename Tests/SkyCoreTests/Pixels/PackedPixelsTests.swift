import Base
import Fixtures
import NIOCore
import Testing

@testable import SkyCore
@testable import SkyJobs

@Suite struct PackedPixelsTests {
    /// Encodes and decodes, and compares bit by bit; any NaN is as good as another.
    private func survives(_ pixels: [Float]) -> Bool {
        guard let back = PackedPixels.decode(ByteBuffer(bytes: PackedPixels.encode(pixels)), count: pixels.count) else {
            return false
        }
        return zip(back, pixels).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN }
            && back.count == pixels.count
    }

    @Test func `floats and whole numbers survive packing bit for bit`() {
        var random = SplitMix64(seed: 1)
        let noise = TestFrame(width: 200, height: 150, seed: 3).pixels
        #expect(survives(noise))
        #expect(survives(noise.map { $0.rounded() }))
        #expect(survives(noise.map { _ in Float.random(in: -1e29...1e29, using: &random) }))
        #expect(survives([1]) && survives([.nan]) && survives([0.1]))
        #expect(survives([-0.0, 0, 3]), "the sign of a zero")
        #expect(survives([16_777_216, -16_777_216, 16_777_218, 1e20, 5]), "beyond what whole floats count by ones")
        #expect(survives([1, .nan, -7, .nan]) && survives([1.5, .nan, -7, .nan]))
        #expect(survives([Float](repeating: .nan, count: 512 * 512)))
        #expect(survives([.leastNonzeroMagnitude, -.leastNonzeroMagnitude]))
    }

    @Test func `a camera's pixels need about one byte each`() {
        let noise = TestFrame(width: 512, height: 512, seed: 4, noise: 12).pixels
        let whole = Double(PackedPixels.encode(noise.map { $0.rounded() }).count) / Double(noise.count)
        #expect(whole < 1.1, "\(whole) bytes a pixel")
        let floats = Double(PackedPixels.encode(noise).count) / Double(noise.count)
        #expect(floats < 3, "\(floats) bytes a pixel")
    }

    @Test func `bytes that the encoder did not make are refused`() {
        var random = SplitMix64(seed: 5)
        let pixels = TestFrame(width: 64, height: 64, seed: 6).pixels.map { $0.rounded() }
        let bytes = PackedPixels.encode(pixels)
        #expect(PackedPixels.decode(ByteBuffer(bytes: bytes), count: pixels.count - 1) == nil)
        #expect(PackedPixels.decode(ByteBuffer(bytes: bytes), count: pixels.count + 1) == nil)
        #expect(PackedPixels.decode(ByteBuffer(bytes: bytes + [0]), count: pixels.count) == nil, "a byte too many")
        #expect(PackedPixels.decode(ByteBuffer(bytes: [7] + bytes.dropFirst()), count: pixels.count) == nil)
        for length in stride(from: 0, to: bytes.count, by: 97) {
            #expect(PackedPixels.decode(ByteBuffer(bytes: bytes[..<length]), count: pixels.count) == nil)
        }
        for _ in 0..<500 {
            var damaged = bytes
            for _ in 0..<3 {
                damaged[.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let back = PackedPixels.decode(ByteBuffer(bytes: damaged), count: pixels.count)
            #expect(back == nil || back?.count == pixels.count)
        }
    }
}
