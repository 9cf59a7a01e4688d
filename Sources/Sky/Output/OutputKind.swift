import Base
import Foundation
import Glibc

/// A kind of file that this program writes. It tells by the content of a file whether the program has made it, because a file of
/// somebody else may not be replaced unless the user says so.
package struct OutputKind: Sendable {
    /// For messages, such as "catalogue".
    package let name: String
    /// Whether it is written by cfitsio, which limits the length of its path.
    fileprivate var isFITS: Bool
    private let recognises: @Sendable (FileStart) -> Bool

    package init(_ name: String, isFITS: Bool = false, _ recognises: @escaping @Sendable (FileStart) -> Bool) {
        (self.name, self.isFITS, self.recognises) = (name, isFITS, recognises)
    }

    /// The largest number of bytes of its path (PATH_MAX of Linux counts the final zero).
    package var pathLimit: Int { isFITS ? FITSWriter.nameLimit : 4095 }

    /// The same kind in a format that is FITS or not.
    package func asFITS(_ isFITS: Bool) -> OutputKind {
        var kind = self
        kind.isFITS = isFITS
        return kind
    }

    /// A text whose first lines are always the same.
    init(_ name: String, beginsWith text: String) {
        self.init(name) { $0.begins(with: text) }
    }

    /// Whether there is a file of this kind that the program has made.
    ///
    /// - Parameter name: The path that the file usually has.
    package func isMade(at path: String, named name: String? = nil) -> Bool {
        guard let start = FileStart(path, named: name ?? path) else { return false }
        defer { start.end() }
        return recognises(start)
    }

    /// Checks that nothing of somebody else has this name.
    ///
    /// An empty file may be replaced: there is nothing in it, and `mktemp` makes them. A symbolic link and a file without any right
    /// to write may not, because somebody has made it so on purpose.
    ///
    /// - Parameter overwrites: Whether the user has allowed that any file is replaced. Only files are, even then.
    /// - Throws: `.badInput` with the path and the reason.
    package func check(_ path: String, overwrites: Bool) throws(SkyError) {
        try check(path, as: path, overwrites: overwrites)
    }

    /// - Parameter name: The path for messages, where the file itself has another name for the moment.
    func check(_ path: String, as name: String, overwrites: Bool) throws(SkyError) {
        var status = stat()
        // Where it cannot be looked at, nothing can be written there, and that error has a better reason.
        guard lstat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw .notWritten(name, errno: EISDIR)
        case S_IFREG, S_IFLNK: if overwrites { return }
        default: throw SkyError(.badInput, "\(name): is not a regular file and is not overwritten")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw refusal(name, "is a symbolic link") }
        guard status.st_size > 0 else { return }
        guard status.st_mode & 0o222 != 0 else { throw refusal(name, "is read-only") }
        guard isMade(at: path, named: name) else {
            throw refusal(name, "is not a \(self.name) that this program has written")
        }
    }

    private func refusal(_ path: String, _ reason: String) -> SkyError {
        SkyError(.badInput, "\(path): \(reason); it is not overwritten without --overwrite")
    }
}

/// The beginning of a file, as far as it is needed to tell its kind.
package struct FileStart {
    /// The path that the file usually has.
    let name: String
    private let descriptor: Int32
    /// The size of a block of a FITS file, and of a header card (FITS Standard 4.0, sections 3.1 and 3.3).
    private static let (block, card) = (2880, 80)
    /// Blocks of a header that are read. A merged catalogue has some cards for each of its images.
    private static let mostBlocks = 2000

    init?(_ path: String, named name: String) {
        // Without O_NONBLOCK a file swapped for a FIFO in between would hang the caller.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        self.name = name
    }

    func end() { close(descriptor) }

    func bytes(_ range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound)))
        }
    }

    func begins(with text: String) -> Bool { bytes(0..<text.utf8.count).elementsEqual(text.utf8) }

    /// The sizes of the beginning of a text that are read: usually the first is enough, and a folder has thousands of files.
    private static let sizes = [8 << 10, 256 << 10]

    /// The first lines of a text. One that is very long is cut off.
    func lines(_ most: Int) -> [Substring] {
        for size in Self.sizes {
            let bytes = bytes(0..<size)
            let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: most, omittingEmptySubsequences: false)
            guard lines.count > most || bytes.count < size || size == Self.sizes.last else { continue }
            return lines.prefix(most).map { String(decoding: $0, as: UTF8.self)[...] }
        }
        return []
    }

    /// Whether a text is at the beginning of the file, which has parameters there.
    func contains(_ text: String) -> Bool {
        Self.sizes.contains { Data(bytes(0..<$0)).range(of: Data(text.utf8)) != nil }
    }

    /// The header cards of the first HDUs of a FITS file, each without the blanks at its end. It ends where the file is none.
    func headers(_ most: Int) -> [[String]] {
        var headers: [[String]] = []
        var offset = 0
        while headers.count < most, let header = header(at: offset) {
            headers.append(header.cards)
            guard let size = Self.dataSize(header.cards) else { break }
            offset = header.end + (size + Self.block - 1) / Self.block * Self.block
        }
        return headers
    }

    private func header(at offset: Int) -> (cards: [String], end: Int)? {
        var cards: [String] = []
        for number in 0..<Self.mostBlocks {
            let start = offset + number * Self.block
            let bytes = bytes(start..<start + Self.block)
            guard bytes.count == Self.block else { return nil }
            if number == 0 {
                guard bytes.starts(with: (offset == 0 ? "SIMPLE  =" : "XTENSION=").utf8) else { return nil }
            }
            for place in stride(from: 0, to: Self.block, by: Self.card) {
                // By bytes: there are thousands of cards, and characters take fifty times as long.
                let card = bytes[place..<place + Self.card]
                let end = card.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? place
                let text = String(decoding: bytes[place..<end], as: UTF8.self)
                if text == "END" { return (cards, start + Self.block) }
                cards.append(text)
            }
        }
        return nil
    }

    /// The size of an HDU's data in bytes (FITS Standard 4.0, section 4.4.1); `nil` where it is beyond any file.
    private static func dataSize(_ cards: [String]) -> Int? {
        func number(_ keyword: String) -> Int? {
            let key = keyword + String(repeating: " ", count: max(0, 8 - keyword.utf8.count)) + "="
            guard let card = cards.first(where: { $0.hasPrefix(key) }) else { return nil }
            return Int(card.dropFirst(key.count).prefix { $0 != "/" }.split(separator: " ").first ?? "")
        }
        guard let bits = number("BITPIX"), (-64...64).contains(bits), let axes = number("NAXIS"), axes > 0, axes < 1000
        else { return 0 }
        var size = 1
        let limit = 1 << 50
        for axis in 1...axes {
            guard let length = number("NAXIS\(axis)"), (0...limit).contains(length) else { return nil }
            let (product, overflow) = size.multipliedReportingOverflow(by: length)
            guard !overflow, product <= limit else { return nil }
            size = product
        }
        let heap = number("PCOUNT") ?? 0
        // The product has at most 54 bits.
        return (0...limit).contains(heap) ? (size + heap) * (abs(bits) / 8) : nil
    }
}

extension FileStart {
    /// Whether the first HDUs are marked as made by this program, as ``FITSCard/program(arithmetic:)`` does, in a header for which
    /// `body` holds.
    func isMarked(hdus: Int, _ body: ([String]) -> Bool) -> Bool {
        headers(hdus).contains { cards in cards.contains { $0.hasPrefix("CREATOR = 'skynode ") } && body(cards) }
    }
}
