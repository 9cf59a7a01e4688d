import Base
import Glibc

/// The folders below which a node reads files that others name. The kernel holds a worker to them where it can; this is for the
/// message, and for kernels that cannot.
struct ReadBounds {
    /// Without symbolic links; empty for everywhere.
    private let folders: [String]

    /// - Parameter folders: folders, or none for everywhere.
    init(_ folders: [String]) {
        self.folders = folders.map { ReadBounds.real($0) ?? $0 }
    }

    /// Whether a file may be read.
    func allow(_ path: String) -> Bool {
        guard !folders.isEmpty else { return true }
        // A path that cannot be followed cannot be opened either, and the opening says why.
        guard let real = ReadBounds.real(path) else { return true }
        return folders.contains { $0 == "/" || real == $0 || real.hasPrefix($0 + "/") }
    }

    /// - Throws: `SkyError` of kind `unavailable` if the file must not be read, because another node may read it.
    func check(_ path: String) throws(SkyError) {
        guard !allow(path) else { return }
        let list = folders.map(FITSSniff.quoted).joined(separator: ", ")
        throw SkyError(
            .unavailable,
            "\(FITSSniff.quoted(path)): this node reads images below \(list) only (read-folders in its configuration)")
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
