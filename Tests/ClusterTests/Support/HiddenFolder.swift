import Glibc

/// A folder that a program finds empty, as on a machine that does not have its files: it runs in a mount namespace of its own.
enum HiddenFolder {
    /// The arguments of `unshare`, before the program and its arguments.
    static func arguments(_ folder: String) -> [String] {
        // A user who is not root becomes root in a user namespace of its own, where that is allowed.
        (geteuid() == 0 ? ["--mount"] : ["--map-root-user", "--mount"])
            + ["--", "sh", "-c", "mount -t tmpfs tmpfs \"$0\" && exec \"$@\"", folder]
    }

    /// Why there can be no such folder; `nil` where there can.
    static let obstacle: String? = {
        guard access("/usr/bin/unshare", X_OK) == 0 else { return "no unshare (apt install util-linux)" }
        let words = arguments("/mnt").map { "'\($0)'" }.joined(separator: " ")
        return system("unshare \(words) true >/dev/null 2>&1") == 0 ? nil : "mount namespaces are not allowed here"
    }()
}
