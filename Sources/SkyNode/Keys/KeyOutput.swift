import Base
import Glibc
import Transport

/// Writes a secret where only its owner can read it.
enum KeyOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes to a file, or to standard output.
    ///
    /// - Parameter path: the file as `--output` names it; `nil` and - stand for standard output.
    /// - Returns: the file that was made; `nil` for standard output.
    static func write(_ text: String, to path: String?) throws -> String? {
        guard let path, path != "-" else {
            try standardOutput(text)
            return nil
        }
        try create(path, text)
        return path
    }

    /// Makes a file that nobody else can open; one that exists is left alone.
    private static func create(_ path: String, _ text: String) throws {
        let shown = PrintableText.of(path)
        // O_EXCL follows no symbolic link either, so that nobody else's file is written (open(2)).
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandFailure(
                    .usage, "\(shown): exists already; a key is never overwritten, nodes may be using it")
            }
            throw CommandFailure(.usage, "\(shown): cannot be written: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        // The umask may have taken the owner's rights too. The file is synchronised, because a key that a power cut loses is on no
        // machine.
        guard fchmod(descriptor, 0o600) == 0, write(text, to: descriptor), fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(path)
            throw CommandFailure(.usage, "\(shown): cannot be written: \(reason)")
        }
    }

    /// Writes to standard output. Where that is a file, it is closed to other users first: the shell made it readable for all, as
    /// the umask says, and a node would refuse it in that state.
    private static func standardOutput(_ text: String) throws {
        var status = stat()
        let isFile = fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isFile, fchmod(STDOUT_FILENO, 0o600) != 0 {
            throw CommandFailure(
                .usage,
                "standard output cannot be closed to other users (\(String(cString: strerror(errno)))); nothing was "
                    + "written, use --output FILE")
        }
        guard write(text, to: STDOUT_FILENO) else {
            throw CommandFailure(.usage, "the key cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Writes a text and returns whether all of it was written; otherwise `errno` says why. Half a key is not a key, so this is
    /// checked, unlike other output.
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if count < 0, errno != EINTR {
                return false
            }
        }
        return true
    }
}
