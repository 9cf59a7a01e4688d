import Glibc

/// Tells by its first blocks whether a file of a folder holds a catalogue and not an image. It does not use cfitsio, because a folder
/// may hold any kind of file.
enum CatalogueSniff {
    /// Whether there is a FITS file that holds a catalogue, of this program or of SExtractor.
    static func isCatalogue(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        func read(_ range: Range<Int>) -> [UInt8] {
            [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound)))
            }
        }
        let first = read(0..<block)
        guard first.starts(with: "SIMPLE  =".utf8) else { return false }
        // A catalogue begins with a primary header of one block and without data. An image seldom does. Then only this block of it
        // is read, because a night has thousands of images.
        let axes = cards(first).first { $0.starts(with: "NAXIS   =".utf8) }
        guard axes.map({ $0.dropFirst(10).first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "0") }) ?? true else {
            return false
        }
        // The header of the table follows. It is some blocks long.
        let names = ["CATALOG ", "LDAC_IMHEAD"].map { Array("EXTNAME = '\($0)".utf8) }
        return cards(read(block..<20 * block)).contains { card in names.contains { card.starts(with: $0) } }
    }

    /// The size in bytes of a block of a FITS file, and of a header card (FITS Standard 4.0, sections 3.1 and 3.3).
    private static let (block, card) = (2880, 80)

    private static func cards(_ bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        stride(from: 0, to: bytes.count, by: card).lazy.map { bytes[$0..<min(bytes.count, $0 + card)] }
    }
}
