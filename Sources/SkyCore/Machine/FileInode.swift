import Glibc

/// The identity of a file, independent of its name. A path leads to the same one as long as nobody puts another file in its place.
struct FileInode: Hashable, Sendable {
    private var device: UInt
    private var inode: UInt

    /// `nil` where there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
    }

    /// The size of a file in bytes; 0 where there is no file.
    static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? max(0, Int(status.st_size)) : 0
    }
}
