import Base
import Glibc

/// A folder that goes away with the test.
package final class TemporaryFolder {
    package let path: String

    package init() {
        var template = Array("/tmp/skycore-tests-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    /// Writes a file and returns its path.
    package func write(_ bytes: [UInt8], _ name: String = "frame.fits") -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        return file
    }

    deinit {
        for entry in FolderEntry.all(in: path) ?? [] { unlink(path + "/" + entry.text) }
        rmdir(path)
    }
}
