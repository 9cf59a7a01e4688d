import Base
import Glibc

/// The names in a folder as they are on the disk: as bytes, which need not be text.
enum FolderNames {
    struct Name {
        var bytes: [UInt8]
        /// The name as text, with a replacement character for bytes that are not UTF-8.
        var text: String
        /// Whether the text is exactly the name.
        var isText: Bool

        init(bytes: [UInt8]) {
            self.bytes = bytes
            let valid = String(validating: bytes, as: UTF8.self)
            isText = valid != nil
            text = valid ?? String(decoding: bytes, as: UTF8.self)
        }

        /// Takes the bytes up to the first zero.
        init(_ pointer: UnsafePointer<CChar>) {
            self.init(bytes: UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map { UInt8(bitPattern: $0) })
        }

        /// The name for people. Bytes that are not text are written as in the shell, `\\xe9`.
        var escaped: String { FolderNames.escaped(bytes) }
    }

    /// The names in a folder, in no particular order; empty where the folder cannot be read.
    static func of(_ folder: String) -> [Name] { (FolderEntry.all(in: folder) ?? []).map { Name(bytes: $0.name) } }

    static func escaped(_ bytes: [UInt8]) -> String {
        var text = ""
        var rest = bytes[...]
        while !rest.isEmpty {
            // This is the length of the next character, which has four bytes at most; `nil` where the bytes are not text.
            let length = (1...min(4, rest.count)).first { String(validating: rest.prefix($0), as: UTF8.self) != nil }
            if let length {
                text += String(decoding: rest.prefix(length), as: UTF8.self)
            } else if let byte = rest.first {
                text += "\\x" + HexText.of(byte)
            }
            rest = rest.dropFirst(length ?? 1)
        }
        return text
    }
}
