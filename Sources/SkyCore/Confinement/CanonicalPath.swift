import Glibc

/// Paths without symbolic links.
enum CanonicalPath {
    /// The real path of a file, also of one that does not exist: then that of the last of its folders that does, with the rest.
    static func of(_ path: String) -> String {
        var (known, rest) = (path, "")
        while true {
            if let real = realpath(known, nil) {
                defer { free(real) }
                let found = String(cString: real)
                return rest.isEmpty ? found : (found == "/" ? "" : found) + rest
            }
            guard let slash = known.lastIndex(of: "/") else { return path }
            let name = known[slash...]
            if name != "/" { rest = name + rest }
            known = slash == known.startIndex ? "/" : String(known[..<slash])
            if known == "/", rest.isEmpty { return "/" }
        }
    }

    /// The folders that a file is in, from its own up to `/`.
    static func ancestors(of path: String) -> [String] {
        var (ancestors, rest): ([String], Substring) = ([], path[...])
        while rest != "/", let slash = rest.lastIndex(of: "/") {
            rest = slash == rest.startIndex ? "/" : rest[..<slash]
            ancestors.append(String(rest))
        }
        return ancestors
    }
}
