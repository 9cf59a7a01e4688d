import Base
import Glibc

/// A fresh folder for one test, with what is in it.
package struct ScratchFolder: ~Copyable {
    package let path: String

    package init() {
        var template = Array("/tmp/skycore-output-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for name in Self.names(in: path) {
            unlink(path + "/" + name)
            rmdir(path + "/" + name)
        }
        rmdir(path)
    }

    package func file(_ name: String) -> String { path + "/" + name }

    /// Names in the folder, hidden ones too.
    package var names: [String] { Self.names(in: path) }

    package static func names(in path: String) -> [String] {
        (FolderEntry.all(in: path) ?? []).map(\.text).sorted()
    }

    package func bytes(_ name: String) -> [UInt8] {
        let descriptor = open(file(name), O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { all += chunk[..<count] }
        return all
    }

    package func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }

    package func put(_ text: String, in name: String) {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}
