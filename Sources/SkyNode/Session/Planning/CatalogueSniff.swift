import Glibc

/// Tells by its first blocks whether a file holds a catalogue of this program or somebody's image. It does not use cfitsio, because
/// a folder may hold any kind of file.
enum CatalogueSniff {
    /// Whether there is a FITS file that holds something else than a catalogue: an image, and perhaps the one to be scanned.
    static func isForeign(_ path: String) -> Bool { kind(of: path) == .other }

    /// Whether there is a FITS file that holds a catalogue of this program.
    static func isCatalogue(_ path: String) -> Bool { kind(of: path) == .catalogue }

    private enum Kind {
        case catalogue, other, noFITS
    }

    /// The size in bytes of a block of a FITS file, and of a header card (FITS Standard 4.0, sections 3.1 and 3.3).
    private static let (block, card) = (2880, 80)

    private static func kind(of path: String) -> Kind {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .noFITS }
        defer { close(descriptor) }
        func read(_ range: Range<Int>) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound)))
            }
        }
        let first = read(0..<block)
        if first.starts(with: [0x1F, 0x8B]) { return .other }
        guard first.starts(with: "SIMPLE  =".utf8) else { return .noFITS }
        // A catalogue begins with a primary header of one block and without data. An image seldom does. Then only this block of it
        // is read, because a night has thousands of images.
        let axes = cards(first).first { $0.starts(with: "NAXIS   =".utf8) }
        guard axes.map({ $0.dropFirst(10).first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "0") }) ?? true else {
            return .other
        }
        // The header of the table follows. It is some blocks long.
        let names = ["CATALOG ", "LDAC_IMHEAD"].map { Array("EXTNAME = '\($0)".utf8) }
        let isCatalogue = cards(read(block..<20 * block)).contains { card in names.contains { card.starts(with: $0) } }
        return isCatalogue ? .catalogue : .other
    }

    private static func cards(_ bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        stride(from: 0, to: bytes.count, by: card).lazy.map { bytes[$0..<min(bytes.count, $0 + card)] }
    }
}
