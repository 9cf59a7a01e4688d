import Base
import Glibc

/// The pixels of an image in a plain file, read without cfitsio.
///
/// cfitsio asks the system twice for each row of a rectangle, and goes three times through the values. A scan reads every pixel
/// twice, and that was a tenth of its time. Only the two kinds of pixels that nearly all frames have are read here, by cfitsio's own
/// rules (`fffr4r4` and `fffi2r4` of its `getcole.c`): 32-bit floats, of which infinities count as missing and values too small for a
/// normal float as 0; and 16-bit integers without BLANK.
final class PlainPixels {
    enum Kind {
        case float
        /// Whole numbers, to which `zero` is added, as most cameras store theirs.
        case integer(zero: Double)

        /// The size of a pixel in the file, in bytes.
        fileprivate var size: Int {
            switch self {
            case .float: 4
            case .integer: 2
            }
        }
    }

    private let file: RegularFile
    private let kind: Kind
    /// The place of the image's first pixel in the file.
    private let start: Int
    /// Columns of the image.
    private let width: Int

    /// - Parameters:
    ///   - start: The place of the image's first pixel in the file, in bytes.
    ///   - width: Columns of the image.
    init(_ file: consuming RegularFile, _ kind: Kind, start: Int, width: Int) {
        self.file = file
        (self.kind, self.start, self.width) = (kind, start, width)
    }

    /// The pixels of a rectangle of the image, row by row. A value that cannot be computed with (NaN, an infinity, beyond +-1e30)
    /// comes as NaN.
    ///
    /// - Returns: `nil` if the file ends before, or cannot be read.
    func read(_ rect: PixelRect) -> [Float]? {
        // Rows as wide as the image are one piece of the file.
        let isWhole = rect.width == width
        let (rows, length) = isWhole ? (1, rect.width * rect.height) : (rect.height, rect.width)
        let piece = min(length, Self.piece)
        var isRead = true
        let pixels = [Float](unsafeUninitializedCapacity: rows * length) { pixels, count in
            withUnsafeTemporaryAllocation(byteCount: piece * kind.size, alignment: 16) { stored in
                for row in 0..<rows {
                    let place = start + ((rect.y + row) * width + rect.x) * kind.size
                    for begin in stride(from: 0, to: length, by: piece) where isRead {
                        let size = min(piece, length - begin)
                        let part = UnsafeMutableRawBufferPointer(rebasing: stored[..<(size * kind.size)])
                        isRead = fill(part, from: place + begin * kind.size)
                        if isRead { convert(part, to: pixels.baseAddress.map { $0 + row * length + begin }, size) }
                    }
                }
            }
            count = isRead ? rows * length : 0
        }
        return isRead ? pixels : nil
    }

    /// The number of pixels that are read at a time, so that they are still in the processor's cache when they are converted.
    private static let piece = 1 << 15

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from place: Int) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = pread(
                file.descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(place + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private func convert(_ stored: UnsafeMutableRawBufferPointer, to pixels: UnsafeMutablePointer<Float>?, _ count: Int)
    {
        guard let pixels, let first = UnsafeRawPointer(stored.baseAddress) else { return }
        // Choices without a branch let the compiler handle several pixels at a time.
        switch kind {
        case .float:
            for index in 0..<count {
                let bits = UInt32(bigEndian: first.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
                let normal = Float(bitPattern: bits & 0x7F80_0000 == 0 ? 0 : bits)
                pixels[index] = abs(normal) < 1e30 ? normal : .nan
            }
        case .integer(let zero):
            for index in 0..<count {
                let value = Int16(bigEndian: first.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))
                let pixel = Float(Double(value) + zero)
                pixels[index] = abs(pixel) < 1e30 ? pixel : .nan
            }
        }
    }
}
