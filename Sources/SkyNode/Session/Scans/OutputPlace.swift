import Base
import Glibc
import Sky
import SkyCore

/// Where results go: a folder with several files an image, or one catalogue of all images.
enum OutputPlace: Sendable {
    case folder(String, [CatalogueFormat])
    case file(String, CatalogueFormat)
    case standardOutput(CatalogueFormat)

    var folder: String {
        switch self {
        case .folder(let folder, _): folder
        case .file(let path, _):
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        case .standardOutput: "."
        }
    }

    var formats: [CatalogueFormat] {
        switch self {
        case .folder(_, let formats): formats
        case .file(_, let format), .standardOutput(let format): [format]
        }
    }

    /// Whether only the one catalogue is wanted.
    var isFile: Bool { if case .folder = self { false } else { true } }

    var isStandardOutput: Bool { if case .standardOutput = self { true } else { false } }

    /// Where the catalogue of all images goes: a name that no image's own has.
    ///
    /// - Parameters:
    ///   - stems: folder and name of each image's results.
    ///   - isPartial: whether it lacks images, which its name says then.
    func merged(besides stems: Set<String>, isPartial: Bool = false) -> [(path: String, format: CatalogueFormat)] {
        switch self {
        case .standardOutput: return []
        case .file(let path, let format):
            guard isPartial else { return [(path, format)] }
            let ending = path.lastIndex(of: ".") ?? path.endIndex
            return [(path[..<ending] + ".partial" + path[ending...], format)]
        case .folder(let folder, let formats):
            var stem = folder + "/merged"
            while stems.contains(stem) { stem += "-all" }
            return formats.map { (stem + (isPartial ? ".partial" : "") + $0.ending, $0) }
        }
    }

    /// - Parameter stems: folder and name of each image's results.
    /// - Throws: `SkyError` where nothing can be written there, or an image would be overwritten.
    func prepare(stems: Set<String> = []) throws(SkyError) {
        if case .file(let path, _) = self {
            var status = stat()
            if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
                throw SkyError(.badInput, "\(path): is a folder; name a file, or end the folder's name with a slash")
            }
        }
        guard !isStandardOutput else { return }
        // Of twenty thousand names those are looked at that are there.
        let there = OutputPlace.names(in: folder)
        let own = isFile ? [] : stems.sorted().flatMap { stem in formats.map { stem + $0.ending } }
        for path in own + merged(besides: stems).map(\.path)
        where there.contains(OutputPlace.name(path)) && OutputPlace.isForeign(path) {
            throw SkyError(.badInput, "\(path): is a file, and no catalogue of this program; it is not overwritten")
        }
        try OutputFolder.prepare(folder)
    }

    /// Whether a FITS file is there that holds something else than a catalogue: an image, and perhaps the one to be scanned.
    static func isForeign(_ path: String) -> Bool { kind(of: path) == .other }

    /// Whether a FITS file is there that holds a catalogue of this program.
    static func isCatalogue(_ path: String) -> Bool { kind(of: path) == .catalogue }

    private static func name(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    private static func names(in folder: String) -> Set<String> { Set(FolderNames.of(folder).map(\.text)) }

    private enum Kind {
        case catalogue, other, noFITS
    }

    /// Bytes of a block of a FITS file, and of a header card (FITS Standard 4.0, sections 3.1 and 3.3).
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
        // A catalogue begins with an empty primary header of a block. An image seldom does, and then this one block is all
        // that is read of it: a night has thousands of them.
        let axes = cards(first).first { $0.starts(with: "NAXIS   =".utf8) }
        guard axes.map({ $0.dropFirst(10).first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "0") }) ?? true else {
            return .other
        }
        // Behind it comes the header of its table, some blocks long.
        let names = ["CATALOG ", "LDAC_IMHEAD"].map { Array("EXTNAME = '\($0)".utf8) }
        let isCatalogue = cards(read(block..<20 * block)).contains { card in names.contains { card.starts(with: $0) } }
        return isCatalogue ? .catalogue : .other
    }

    private static func cards(_ bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
        stride(from: 0, to: bytes.count, by: card).lazy.map { bytes[$0..<min(bytes.count, $0 + card)] }
    }
}
