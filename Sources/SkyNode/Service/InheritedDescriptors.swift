import Glibc

/// Descriptors that the daemon happened to have open when it started this process. They are none of a worker's
/// business, and a socket kept open here would look alive to its peer after the daemon's death.
enum InheritedDescriptors {
    /// Closes everything above standard error. To be called before anything is opened.
    static func closeAll() {
        guard let directory = opendir("/proc/self/fd") else { return }
        var open: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let descriptor = Int32(name), descriptor > STDERR_FILENO, descriptor != dirfd(directory) {
                open.append(descriptor)
            }
        }
        closedir(directory)
        for descriptor in open { close(descriptor) }
    }
}
