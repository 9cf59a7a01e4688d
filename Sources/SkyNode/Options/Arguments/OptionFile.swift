import Base
import Glibc
import Sky
import SkyCore
import Transport

/// A small file that an option names.
enum OptionFile {
    /// - Parameter limit: Largest size in bytes.
    /// - Throws: `SkyError` naming the file where it cannot be read, is not a file or has more bytes.
    static func contents(of path: String, limit: Int) throws(SkyError) -> [UInt8] {
        let name = PrintableText.of(path)
        // Without `O_NONBLOCK`, opening a pipe to which nobody writes would wait for ever.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SkyError(.badInput, "\(name): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SkyError(.badInput, "\(name): not a file")
        }
        return try contents(of: descriptor, name, limit)
    }

    /// What comes by standard input.
    static func standardInput(limit: Int) throws(SkyError) -> [UInt8] {
        try contents(of: STDIN_FILENO, "standard input", limit)
    }

    private static func contents(of descriptor: Int32, _ name: String, _ limit: Int) throws(SkyError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let count = limit + 1 - bytes.count
            var found = 0
            let part = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                repeat { found = read(descriptor, buffer.baseAddress, count) } while found < 0 && errno == EINTR
                filled = max(0, found)
            }
            guard found >= 0 else { throw SkyError(.badInput, "\(name): \(String(cString: strerror(errno)))") }
            if part.isEmpty { return bytes }
            bytes += part
        }
        throw SkyError(.badInput, "\(name): longer than \(limit) bytes")
    }
}
