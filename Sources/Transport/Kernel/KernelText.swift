import Foundation

/// Reads the files of the kernel below /proc and /sys. These files have no size, and `String(contentsOfFile:)` and
/// `FileManager.contents(atPath:)` take the first few kilobytes of such a file for the whole.
package enum KernelText {
    /// The whole text of a file; `nil` where it cannot be read.
    package static func of(_ path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.readToEnd() else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
