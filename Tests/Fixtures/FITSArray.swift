/// An array of any number of axes as an HDU, for images that `TestFrame` does not have.
package struct FITSArray {
    package var sizes: [Int]
    package var values: [Double]
    /// 8, 16, 32, 64, -32 or -64.
    package var bitpix = -32
    package var cards: [String] = []

    /// Frames as the planes of a cube.
    package init(planes: [TestFrame], higherAxes: [Int]? = nil, cards: [String] = []) {
        sizes = [planes[0].width, planes[0].height] + (higherAxes ?? [planes.count])
        values = planes.flatMap { $0.pixels.map(Double.init) }
        self.cards = cards
    }

    /// An image of one plane.
    package init(_ frame: TestFrame, bitpix: Int = -32, cards: [String] = []) {
        sizes = [frame.width, frame.height]
        values = frame.pixels.map(Double.init)
        (self.bitpix, self.cards) = (bitpix, cards)
    }

    package init(width: Int, height: Int, bitpix: Int, _ values: [Double], cards: [String] = []) {
        (sizes, self.values, self.bitpix, self.cards) = ([width, height], values, bitpix, cards)
    }

    package var primary: [UInt8] { bytes(first: "SIMPLE  = T", []) }
    package var `extension`: [UInt8] { bytes(first: "XTENSION= 'IMAGE   '", ["PCOUNT  = 0", "GCOUNT  = 1"]) }

    /// A primary HDU without an image.
    package static func empty(_ cards: [String] = []) -> [UInt8] {
        FITSBytes.header(["BITPIX  = 8", "NAXIS   = 0", "EXTEND  = T"] + cards)
    }

    private func bytes(first: String, _ counts: [String]) -> [UInt8] {
        let axes = sizes.enumerated().map { "NAXIS\($0.offset + 1)  = \($0.element)" }
        let header = FITSBytes.header(
            ["BITPIX  = \(bitpix)", "NAXIS   = \(sizes.count)"] + axes + counts + cards, first: first)
        return header + FITSBytes.padded(values.flatMap(encoded))
    }

    private func encoded(_ value: Double) -> [UInt8] {
        let bits: UInt64 =
            switch bitpix {
            case -32: UInt64(Float(value).bitPattern)
            case -64: value.bitPattern
            default: UInt64(bitPattern: Int64(value))
            }
        return stride(from: abs(bitpix) - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
    }
}
