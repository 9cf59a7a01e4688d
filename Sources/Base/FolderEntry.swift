#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A name in a folder, and what the kernel says of it.
package struct FolderEntry: Hashable, Sendable {
    /// The name's bytes, which need not be text.
    package var name: [UInt8]
    /// `DT_DIR` and the like (readdir(3)); `DT_UNKNOWN`, which is 0, where the file system does not tell.
    package var type: UInt8

    /// The name as text, with a replacement character for bytes that are not UTF-8.
    package var text: String { String(decoding: name, as: UTF8.self) }

    /// The entries of a folder, in no particular order and without `.` and `..`; `nil` where it cannot be read.
    package static func all(in folder: String) -> [FolderEntry]? {
        guard let handle = opendir(folder) else { return nil }
        defer { closedir(handle) }
        var entries: [FolderEntry] = []
        while let record = readdir(handle) {
            let entry = FolderEntry(record)
            if entry.name != [46], entry.name != [46, 46] { entries.append(entry) }
        }
        return entries
    }

    /// Reads a record up to the end of its name and no further. A record in the C library's buffer is as long as its name, not as long
    /// as the type `dirent`: what follows the last one may be no memory at all, so that a copy of the whole ends the process.
    init(_ record: UnsafePointer<dirent>) {
        let start = UnsafeRawPointer(record)
        let fields = (type: MemoryLayout<dirent>.offset(of: \.d_type), name: MemoryLayout<dirent>.offset(of: \.d_name))
        guard let typePlace = fields.type, let namePlace = fields.name else {
            preconditionFailure("fields of C have places")
        }
        type = start.load(fromByteOffset: typePlace, as: UInt8.self)
        let text = (start + namePlace).assumingMemoryBound(to: CChar.self)
        name = Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
