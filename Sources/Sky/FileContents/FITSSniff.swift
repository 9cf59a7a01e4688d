import Base
import Glibc

/// A cheap look at a file before any FITS library sees it: most wrong files are wrong in their first bytes.
///
/// It reads by libc alone, so that the daemon and the command line may use it too; neither of them runs cfitsio.
package enum FITSSniff {
    /// A FITS file is made of blocks of this many bytes (FITS Standard 4.0, section 3.1).
    private static let blockSize = 2880
    /// From this length on, cfitsio begins to lose characters of a path (`FLEN_FILENAME` is 1025, and it appends suffixes).
    private static let pathLimit = 1000

    /// Throws unless `path` names a readable file that begins as FITS or gzip does.
    ///
    /// - Parameters:
    ///   - name: The path for messages, where the file is known by another one.
    ///   - showsStart: Whether the complaint may quote the file's first bytes. It may do so only if the reader of the
    ///   complaint opened the file with rights of their own. A daemon opens files that others name, and would show them bytes
    ///   that they may not read.
    /// - Throws: `.unavailable` where this node cannot reach the file or has no file there, `.badInput` where the file is no image.
    package static func check(path: String, named other: String? = nil, showsStart: Bool = false) throws(SkyError) {
        let name = quoted(other ?? path)
        guard !path.isEmpty else { throw SkyError(.badInput, "an image's path is empty") }
        guard !path.utf8.contains(0), path.utf8.count <= pathLimit else {
            throw SkyError(.badInput, "\(name): the path is longer than \(pathLimit) bytes or holds a zero byte")
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreachable(name, errno, path) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        // Another node may have the image under this path.
        case S_IFDIR:
            throw SkyError(.unavailable, "\(name): \(directoryWords) in it, for example \(name)/*.fits")
        default:
            throw SkyError(.unavailable, "\(name): \(irregularWords); copy the image to a file first")
        }
        guard status.st_size > 0 else {
            throw SkyError(.badInput, "\(name): empty (0 bytes); is it still being written?")
        }
        // Without O_NONBLOCK a file swapped for a FIFO in between would hang the caller.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreachable(name, errno, path) }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor, &start, start.count)
        guard count > 0 else { throw unreachable(name, count < 0 ? errno : EIO, path) }
        try checkStart(start.prefix(count), size: Int(status.st_size), name: name, showsStart: showsStart)
    }

    private static func checkStart(
        _ start: ArraySlice<UInt8>, size: Int, name: String, showsStart: Bool
    ) throws(SkyError) {
        if start.starts(with: [0x1F, 0x8B]) {
            // 18 bytes is the smallest gzip member: a header of 10 and a trailer of 8 (RFC 1952).
            guard size > 18 else {
                throw SkyError(.badInput, "\(name): truncated: only \(size) bytes of a gzip file; copy it again")
            }
            return
        }
        guard start.starts(with: "SIMPLE  =".utf8) else {
            let shown = showsStart ? " (it begins with \(begin(start)))" : ""
            throw SkyError(.badInput, "\(name): not a FITS file\(shown)\(hint(start))")
        }
        guard size >= blockSize else {
            throw SkyError(
                .badInput,
                "\(name): truncated: \(size) bytes do not hold one FITS header block of \(blockSize); copy it again")
        }
    }

    private static let missingWords = "no such file on this node"
    private static let directoryWords = "a directory; name the images"
    private static let irregularWords = "not a regular file"
    private static let loopWords = "its symbolic links lead to no file"
    private static let otherWords = "it is not the file that the command has under this name"

    /// The error for a file that is not the one that a command has under the same path.
    static func other(_ path: String) -> SkyError { SkyError(.unavailable, "\(quoted(path)): \(otherWords)") }

    /// Whether a reason says that a node does not have a file: there is none under its path, or something else.
    package static func saysMissing(_ reason: String) -> Bool {
        [missingWords, directoryWords, irregularWords, loopWords, otherWords].contains { reason.contains($0) }
    }

    private static func unreachable(_ name: String, _ code: Int32, _ path: String) -> SkyError {
        let reason =
            switch code {
            case ENOENT, ENOTDIR: missingWords
            case ELOOP: loopWords
            // The mode of the file lets this user read it, and the sandbox of the worker does not.
            case EACCES where access(path, R_OK) == 0:
                "the node keeps its workers from here, as from keys, journals, hidden and system files; move the image, or "
                    + "name its folder in read-folders of the node's configuration"
            case EACCES, EPERM: "permission denied; let the user that runs the node read it"
            default: String(cString: strerror(code))
            }
        return SkyError(.unavailable, "\(name): \(reason)")
    }

    /// The first bytes as a person reads them: the first word if it is text, otherwise hexadecimal digits.
    private static func begin(_ start: ArraySlice<UInt8>) -> String {
        let word = start.prefix { $0 > 0x20 && $0 < 0x7F }.prefix(12)
        if word.count >= 3 { return "\"\(String(decoding: word, as: UTF8.self))\"" }
        return "bytes " + start.prefix(4).map { HexText.of($0) }.joined(separator: " ")
    }

    private static func hint(_ start: ArraySlice<UInt8>) -> String {
        let kinds: [([UInt8], String)] = [
            (Array("<".utf8), "; is it a saved web page?"),
            (Array("{".utf8), "; is it a server's error message?"),
            (Array("BZh".utf8), "; unpack it with bunzip2 first"),
            ([0xFD, 0x37, 0x7A], "; unpack it with unxz first"),
            ([0x28, 0xB5, 0x2F, 0xFD], "; unpack it with unzstd first"),
            ([0x1F, 0x9D], "; unpack it with uncompress first"),
            (Array("PK".utf8), "; unpack it with unzip first"),
            ([0x89, 0x50, 0x4E, 0x47], "; it is a PNG picture"),
            ([0xFF, 0xD8], "; it is a JPEG picture"),
            ([0x49, 0x49, 0x2A], "; it is a TIFF picture or a camera's raw file"),
            (Array("SIMPLE".utf8), "; its first header card is damaged"),
        ]
        return kinds.first { start.starts(with: $0.0) }?.1 ?? ""
    }

    /// A path in a form that fits into a one-line message.
    package static func quoted(_ path: String) -> String { PrintableText.whole(path) }
}
