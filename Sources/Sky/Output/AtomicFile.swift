import Base
import Glibc

/// One file that appears completely or not at all, in the way of `StagedFiles`.
package enum AtomicFile {
    /// Writes `bytes` to `path`, in the place of a file of the same kind if there is one.
    ///
    /// - Parameter overwrites: Whether a file of somebody else is replaced.
    /// - Throws: `SkyError` naming the file and the reason.
    package static func write(
        _ bytes: [UInt8], to path: String, as kind: OutputKind, overwrites: Bool = false
    ) throws(SkyError) {
        let files = StagedFiles(overwrites: overwrites)
        try files.write(bytes, to: path, as: kind)
        try files.place()
    }
}

extension SkyError {
    /// The error for a file that could not be written, from the system's own number for the reason.
    package static func notWritten(_ path: String, errno code: Int32) -> SkyError {
        let reason: String
        switch code {
        case ENOENT: reason = "its folder does not exist"
        case EISDIR: reason = "it is a folder, not a file"
        case ENOTDIR: reason = "a part of its path is a file, not a folder"
        case EACCES, EPERM: reason = "this user may not write there"
        case ENOSPC, EDQUOT: reason = "the disk is full"
        default: reason = String(cString: strerror(code))
        }
        // A full or failing disk is not a fault of the input: the same request works once there is room.
        let kind: Kind = [ENOSPC, EDQUOT, EIO].contains(code) ? .failed : .badInput
        return SkyError(kind, "\(path): cannot be written: \(reason)")
    }
}
