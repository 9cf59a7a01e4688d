/// The mounts that a process sees, as /proc/self/mountinfo lists them (proc(5)).
struct MountTable: Hashable, Sendable {
    struct Mount: Hashable {
        /// The file system.
        var device: Substring
        /// The folder of the file system that is seen at `point`.
        var root: String
        var point: String
        /// The kind of file system, and its own options.
        var kind: Substring
        var options: [Substring]
    }

    let mounts: [Mount]

    init(_ text: String) {
        mounts = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count > 5 else { return nil }
            // Before the kind there are any number of fields, of which `-` is the last.
            let kind = fields[5].split(separator: " ").drop { $0 != "-" }.dropFirst()
            return Mount(
                device: fields[2], root: MountTable.unescaped(fields[3]), point: MountTable.unescaped(fields[4]),
                kind: kind.first ?? "", options: kind.dropFirst(2).first?.split(separator: ",") ?? [])
        }
    }

    /// The other paths under which the file or folder at `path` can be reached, because its folder is mounted twice (`mount
    /// --bind`).
    ///
    /// - Parameter path: without symbolic links.
    func aliases(of path: String) -> [String] {
        // Of several mounts at one place the last one is seen.
        let own = mounts.indices.filter { MountTable.rest(of: path, below: mounts[$0].point) != nil }.max {
            (mounts[$0].point.utf8.count, $0) < (mounts[$1].point.utf8.count, $1)
        }
        guard let own, let rest = MountTable.rest(of: path, below: mounts[own].point) else { return [] }
        let place = MountTable.joined(mounts[own].root, rest)
        return mounts.compactMap { mount in
            guard mount.device == mounts[own].device, let rest = MountTable.rest(of: place, below: mount.root) else {
                return nil
            }
            let alias = MountTable.joined(mount.point, rest)
            return alias == path ? nil : alias
        }
    }

    /// What follows `folder` in `path`; `nil` if it is not below it.
    static func rest(of path: String, below folder: String) -> Substring? {
        if folder == "/" { return path.dropFirst() }
        guard path.hasPrefix(folder) else { return nil }
        let rest = path.dropFirst(folder.count)
        return rest.isEmpty ? rest : rest.first == "/" ? rest.dropFirst() : nil
    }

    static func joined(_ folder: String, _ rest: Substring) -> String {
        rest.isEmpty ? folder : folder == "/" ? "/" + rest : folder + "/" + rest
    }

    /// The kernel writes blanks, tabs, line ends and backslashes as three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        guard field.contains("\\") else { return String(field) }
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
