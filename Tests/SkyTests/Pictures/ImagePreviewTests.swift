import Base
import Testing

@testable import Sky

@Suite struct ImagePreviewTests {
    /// A preview of an image given by a formula.
    private func preview(
        _ width: Int, _ height: Int, side: Int = 64, _ value: (Int, Int) -> Float
    ) throws(SkyError) -> ImagePreview {
        try ImagePreview(width: width, height: height, maximumSide: side) { (rect) throws(SkyError) in
            (rect.y..<rect.y + rect.height).flatMap { y in (rect.x..<rect.x + rect.width).map { value($0, y) } }
        }
    }

    @Test func `the longest side fits and a small image stays as it is`() throws {
        let large = try preview(300, 100) { x, _ in Float(x) }
        #expect(large.binning == 5 && large.width == 60 && large.height == 20)
        let odd = try preview(65, 3) { x, _ in Float(x) }
        #expect(odd.binning == 2 && odd.width == 33 && odd.height == 2)
        let small = try preview(50, 40) { x, _ in Float(x) }
        #expect(small.binning == 1 && small.pixels.count == 2000)
    }

    @Test func `the whole image is read once in strips of whole blocks`() throws {
        var rows: [Range<Int>] = []
        _ = try ImagePreview(width: 50_000, height: 200, maximumSide: 16) { (rect) throws(SkyError) in
            rows.append(rect.y..<rect.y + rect.height)
            return [Float](repeating: 1, count: rect.width * rect.height)
        }
        #expect(rows.first?.lowerBound == 0 && rows.last?.upperBound == 200)
        rows.removeAll()
        _ = try ImagePreview(width: 5000, height: 2000, maximumSide: 1000) { (rect) throws(SkyError) in
            rows.append(rect.y..<rect.y + rect.height)
            return [Float](repeating: 1, count: rect.width * rect.height)
        }
        #expect(rows.count > 1)
        #expect(rows.dropLast().allSatisfy { $0.count % 5 == 0 })
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(rows.last?.upperBound == 2000)
    }

    @Test func `blocks are averages without the pixels that have no value`() throws {
        // Two grey levels and a star; half of the left pixels are missing, and their neighbours must not notice.
        let image = try preview(128, 128) { x, y in
            if x < 64 { return (x + y) % 2 == 0 ? .nan : 10 }
            return x == 100 && y == 100 ? 1000 : 20
        }
        #expect(image.binning == 2)
        let left = Set((0..<64).flatMap { row in image.pixels[row * 64..<row * 64 + 32] })
        #expect(left.count == 1)
        #expect(image.pixels[50 * 64 + 50] > image.pixels[50 * 64 + 40])
    }

    @Test func `brighter pixels are never darker and no value is black`() throws {
        let image = try preview(64, 1) { x, _ in x == 0 ? .nan : Float(x * x) }
        #expect(image.pixels[0] == 0)
        #expect(zip(image.pixels.dropFirst(), image.pixels.dropFirst(2)).allSatisfy { $0 <= $1 })
        #expect(image.pixels[63] > 100)
    }

    @Test func `images without contrast or without values are drawn`() throws {
        for value in [Float.nan, .infinity, 0, 3e38, -1e30] {
            #expect(try preview(20, 20) { _, _ in value }.pixels.count == 400)
        }
    }

    @Test func `an encoded preview is close to what was drawn, and smaller`() throws {
        var random = SplitMix64(seed: 1)
        let plain = try preview(700, 500) { x, y in
            (x - 350) * (x - 350) + (y - 250) * (y - 250) < 20 ? 5000 : 100 + Float(random.next() % 1000) / 100
        }
        let encoded = try plain.encoded()
        #expect(encoded.pixels.isEmpty && (encoded.jpeg?.count ?? .max) < plain.pixels.count / 2)
        #expect((encoded.width, encoded.height, encoded.binning) == (plain.width, plain.height, plain.binning))
        #expect(try encoded.encoded() == encoded && encoded == plain.encoded(), "always the same file")
        let differences = zip(try encoded.greys(), plain.pixels).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < 8 * differences.count)
    }

    @Test func `what cannot be the picture of an image is refused at the door`() throws {
        let info = ImageInfo(width: 64, height: 32, bitpix: -32, hdu: 1, hasWCS: false)
        let plain = try preview(64, 32) { x, y in Float(x + y) }
        let encoded = try plain.encoded()
        #expect(plain.isSound(of: info) && encoded.isSound(of: info))
        for change: (inout ImagePreview) -> Void in [
            { $0.jpeg?.removeLast() }, { $0.jpeg?.removeFirst() }, { $0.jpeg = [] }, { $0.pixels = [1] },
            { $0.width = 32 }, { $0.binning = 2 }, { $0.binning = .min }, { $0.height = .max },
            { $0.jpeg?.insert(contentsOf: [UInt8](repeating: 0, count: 9000), at: 3) }, { $0.jpeg = nil },
        ] {
            var changed = encoded
            change(&changed)
            #expect(!changed.isSound(of: info))
        }
    }

    @Test func `sizes that make no sense are refused`() {
        for (width, height, side) in [(0, 5, 100), (5, -1, 100), (.max, .max, 100), (5, 5, 0), (5, 5, .max)] {
            #expect(throws: SkyError.self) { try preview(width, height, side: side) { _, _ in 0 } }
        }
        #expect(throws: SkyError.self) {
            try ImagePreview(width: 50, height: 50) { (_) throws(SkyError) in [1, 2, 3] }
        }
    }

    @Test func `an error of the reader comes through`() {
        #expect(throws: SkyError(.unavailable, "gone")) {
            try ImagePreview(width: 50, height: 50) { (_) throws(SkyError) in throw SkyError(.unavailable, "gone") }
        }
    }
}
