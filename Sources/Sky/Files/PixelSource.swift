import Base

/// Where the pixels of an image come from.
package protocol PixelSource: AnyObject {
    /// The name that messages give to the image.
    var path: String { get }
    var info: ImageInfo { get }
    /// The coordinates; `nil` if the image has none.
    var wcs: WCSTransform? { get }
    /// The header's cards without END, 80 characters each.
    var header: [String] { get }
    /// The images of the file that are scanned if the user names no HDU, as HDU numbers, and in words the images that are not
    /// scanned.
    func images() -> (sky: [Int], others: [String])
    /// The pixels of `rect`, row by row; NaN for each value that cannot be computed with.
    func read(_ rect: PixelRect) throws(SkyError) -> [Float]
}

extension FITSImage: PixelSource {}

/// An image in memory.
package final class MemoryImage: PixelSource {
    package let path = "the image in memory"
    package let info: ImageInfo
    package let header: [String]
    package let wcs: WCSTransform?
    private let pixels: [Float]

    /// - Throws: `.badInput` if the number of pixels does not fit the size.
    init(width: Int, height: Int, pixels: [Float], header: [String]) throws(SkyError) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !overflow, count == pixels.count else {
            throw SkyError(.badInput, "\(pixels.count) pixels are not an image of \(width) x \(height)")
        }
        self.pixels = pixels
        self.header = header
        let coordinates = Result { () throws(MissingCoordinates) in try WCSTransform(cards: header) }
        wcs = coordinates.transform
        var info = ImageInfo(width: width, height: height, bitpix: -32, hdu: 0, hasWCS: wcs != nil)
        info.missingCoordinates = coordinates.missing?.words
        self.info = info
    }

    package func images() -> (sky: [Int], others: [String]) { ([0], []) }

    package func read(_ rect: PixelRect) throws(SkyError) -> [Float] {
        guard info.contains(rect) else { throw SkyError(.badInput, "the rectangle \(rect) is not inside \(path)") }
        var result: [Float] = []
        result.reserveCapacity(rect.area)
        for y in rect.y..<rect.bottom {
            for value in pixels[y * info.width + rect.x..<y * info.width + rect.right] {
                result.append(abs(value) < 1e30 ? value : .nan)
            }
        }
        return result
    }
}

extension WCSTransform {
    /// The coordinates of a header's bytes, 80 a card, with the tables of distortions that belong to it.
    package convenience init(bytes: [UInt8], plane: [Int]?, tables: [LookupTable]) throws(MissingCoordinates) {
        let cards = bytes.count / 80
        guard cards > 0 else { throw .absent }
        // The text ends with a zero, because wcslib reads a C string.
        var text = bytes[..<(cards * 80)].map { CChar(bitPattern: $0) } + [0]
        try self.init(header: &text, cards: Int32(clamping: cards), plane: plane) { name in
            tables.first { $0.name == name }
        }
    }

    /// The coordinates of a header given as text, whose cards are cut or padded to 80 characters.
    package convenience init(cards: [String]) throws(MissingCoordinates) {
        guard !cards.isEmpty else { throw .absent }
        let all = cards + ["END"]
        let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: all.count * 80 + 1)
        defer { bytes.deallocate() }
        bytes.initialize(repeating: 0x20, count: all.count * 80)
        bytes[all.count * 80] = 0
        for (index, card) in all.enumerated() {
            for (place, byte) in card.utf8.prefix(80).enumerated() {
                // wcslib reads text, and other bytes mean nothing to it.
                bytes[index * 80 + place] = (0x20...0x7E).contains(byte) ? CChar(byte) : 0x3F
            }
        }
        try self.init(header: bytes, cards: Int32(clamping: all.count))
    }
}
