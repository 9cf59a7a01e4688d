import Base
import Glibc

/// Reads the files that keys and certificates come in.
///
/// The checks are made on the opened descriptor, not on the name: the file that was checked is the file that is read, whatever
/// happens to the name meanwhile.
package enum SecretFile {
    /// The longest file, in bytes. A key with its certificate has about 1 KiB; a chain of own certificates or a bundle of roots
    /// fits many times over.
    static let limit = 64 * 1024

    enum Kind {
        /// Nobody but its owner may read or write it. If root owns the file, a group may read it too.
        case secret
        /// Certificates, which are public.
        case certificates
    }

    /// The text of a file that nobody else may read.
    package static func secret(_ path: String) throws(SecurityError) -> String { try read(path, .secret) }

    /// The text of the file.
    ///
    /// - Parameter credentials: the folder in which systemd hands secrets to a service, `$CREDENTIALS_DIRECTORY`.
    static func read(
        _ path: String, _ kind: Kind, credentials: String? = credentialsFolder, limit: Int = SecretFile.limit
    ) throws(SecurityError) -> String {
        let (text, exposure) = try examine(path, kind, credentials: credentials, limit: limit)
        if let exposure { throw exposure }
        return text
    }

    /// Whether there is something of that name.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The text of the file, and what is wrong with its access rights. A caller that knows what the file should hold looks at the
    /// text first: the advice to close a file that is not a secret, such as `/etc/passwd`, would be wrong.
    static func examine(
        _ path: String, _ kind: Kind, credentials: String? = credentialsFolder, limit: Int = SecretFile.limit
    ) throws(SecurityError) -> (text: String, exposure: SecurityError?) {
        let shown = PrintableText.of(path)
        guard !path.isEmpty, !path.utf8.contains(0) else { throw SecurityError("an empty name is no file") }
        // Without O_NONBLOCK a named pipe would keep us waiting for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw SecurityError("\(shown): \(reason(errno))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SecurityError("\(shown): \(reason(errno))") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SecurityError("\(shown): not a regular file") }
        var exposure: SecurityError?
        if kind == .secret {
            let isCredential = credentials.map { path.hasPrefix($0 + "/") } ?? false
            exposure = SecretFile.exposure(status, shown, isCredential: isCredential)
        }
        guard status.st_size <= limit else {
            throw SecurityError("\(shown): has \(status.st_size) bytes, too long for a file of keys or certificates")
        }
        return (String(decoding: try bytes(descriptor, shown, limit), as: UTF8.self), exposure)
    }

    /// The folder in which systemd puts the files that `LoadCredential=` names.
    static var credentialsFolder: String? {
        guard let value = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let folder = String(cString: value)
        return folder.hasPrefix("/") ? folder : nil
    }

    /// What others may do with a secret, and how that is mended; `nil` where they may do nothing.
    private static func exposure(_ status: stat, _ shown: String, isCredential: Bool) -> SecurityError? {
        // systemd lets the service's user in by an access control list, whose mask stat shows as the group's rights; the folder
        // around it is closed to everybody else (systemd.exec(5), "Credentials"). If root lets a group read a file, that is the
        // administrator's will: a package gives a service its secret in this way, and PostgreSQL has the same rule.
        let forbidden: mode_t = isCredential || status.st_uid == 0 ? 0o037 : 0o077
        let others = status.st_mode & forbidden
        guard others != 0 else { return nil }
        let verb = others & 0o044 != 0 ? "read" : "change"
        let mend =
            switch (status.st_uid, status.st_gid) {
            case (0, 0): "chmod 600 \(shown) (for a service: chgrp skynode \(shown); chmod 640 \(shown))"
            case (0, _): "chmod 640 \(shown)"
            default: "chmod 600 \(shown)"
            }
        return SecurityError("\(shown): others can \(verb) this secret; run: \(mend)")
    }

    private static func bytes(_ descriptor: Int32, _ shown: String, _ limit: Int) throws(SecurityError) -> [UInt8] {
        // There is room for one byte more than allowed: the file may have grown since it was looked at.
        var all = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < all.count {
            let got = all.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw SecurityError("\(shown): \(reason(errno))") }
            if got == 0 { break }
            count += got
        }
        guard count <= limit else { throw SecurityError("\(shown): too long for a file of keys or certificates") }
        return Array(all[..<count])
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "no such file"
        case EACCES: "this user may not read it"
        case EISDIR: "a directory, not a file"
        default: String(cString: strerror(code))
        }
    }
}
