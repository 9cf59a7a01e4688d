package import Base
import Glibc

/// Where this process may put files for a while: in `TMPDIR`, or in one of the usual places where that cannot be used.
package struct TemporaryLocation: Hashable, Sendable {
    package var path: String
    /// Why that is not `TMPDIR`; `nil` where it is, or where no `TMPDIR` is set.
    package var objection: String?

    /// The folders that machines have for this. A container with a root that nobody can write to often has only the last one.
    static let places = ["/tmp", "/var/tmp", "/dev/shm"]

    /// - Parameters:
    ///   - named: the value of `TMPDIR`.
    ///   - objection: why a folder cannot be used; `nil` where it can.
    /// - Throws: `SkyError` where there is no folder to be had, with the reasons.
    package init(
        named: String? = getenv("TMPDIR").map { String(cString: $0) },
        objection: (String) -> String? = TemporaryLocation.objection
    ) throws(SkyError) {
        let named = named.flatMap { $0.isEmpty ? nil : $0 }
        let first = named.flatMap { path in objection(path).map { "\(path): \($0)" } }
        if let named, first == nil {
            (path, self.objection) = (named, nil)
            return
        }
        var objections = [first.map { "TMPDIR is \($0)" }].compactMap(\.self)
        for place in TemporaryLocation.places {
            guard let reason = objection(place) else {
                (path, self.objection) = (place, first)
                return
            }
            objections.append("\(place): \(reason)")
        }
        throw SkyError(
            .failed,
            "there is no folder for temporary files (\(objections.joined(separator: "; "))); TMPDIR names one")
    }

    /// Why a folder cannot be used, in words.
    package static func objection(to path: String) -> String? {
        guard path.hasPrefix("/") else { return "it does not begin with /" }
        // The path of a Unix socket has 107 bytes at most (unix(7)), and our names are added to this one.
        guard path.utf8.count <= 70 else { return "it is longer than 70 bytes" }
        var template = Array((path + "/skynode-trial-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { return String(cString: strerror(errno)) }
        rmdir(template)
        return nil
    }
}
