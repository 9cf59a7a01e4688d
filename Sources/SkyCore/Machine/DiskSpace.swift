import Glibc

/// The size of a disk and its free space, in bytes.
struct DiskSpace: Hashable, Sendable {
    var size: Int
    /// The free space for a process without special rights.
    var available: Int

    init(size: Int, available: Int) { (self.size, self.available) = (size, available) }

    /// - Parameter path: the path of a file or folder on the disk. The file need not exist if its folder does.
    /// - Returns: `nil` where the system does not tell.
    init?(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 || statvfs(DiskSpace.folder(of: path), &status) == 0 else { return nil }
        let block = Int(clamping: status.f_frsize)
        size = DiskSpace.bytes(status.f_blocks, of: block)
        available = DiskSpace.bytes(status.f_bavail, of: block)
    }

    private static func folder(of path: String) -> String {
        let folder = path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        return folder.isEmpty ? "/" : folder
    }

    private static func bytes(_ blocks: some BinaryInteger, of size: Int) -> Int {
        let (bytes, overflow) = Int(clamping: blocks).multipliedReportingOverflow(by: size)
        return overflow ? .max : bytes
    }
}
