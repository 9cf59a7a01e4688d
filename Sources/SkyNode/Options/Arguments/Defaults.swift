import Glibc
import Transport

/// What holds where nothing is said.
enum Defaults {
    /// Port of the daemon. Above the well-known ones, not registered for another service in wide use.
    static let port = 7420

    /// Address of the daemon of this machine.
    static let daemon = NodeAddress.hostPort(host: "127.0.0.1", port: port)

    /// Where HTTP is answered.
    static let http = NodeAddress.hostPort(host: "127.0.0.1", port: httpPort)
    static let httpPort = 7422

    /// How long a node that is lost is waited for: time in which a machine has restarted.
    static let patience = Duration.seconds(120)

    /// One slot a core: scans compute without waiting.
    static var slots: Int { max(1, min(1024, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))) }

    /// The host's name up to its first dot.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "skynode" }
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let short = String(host.prefix { $0 != "." })
        return Hello.isValidName(short) ? short : "skynode"
    }

    /// This program, for starting worker processes. Not `argv[0]`, which may be relative to another folder.
    static let executable = "/proc/self/exe"

    /// Where nodes keep jobs and results: where systemd says (`StateDirectory=`), else for the system's own the place for it
    /// (FHS 3.0, 5.8), for a user's the one of the XDG base directory specification.
    static var dataHome: String {
        if let state = environment("STATE_DIRECTORY"), state.hasPrefix("/") { return state }
        if geteuid() == 0 { return "/var/lib/skynode" }
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/skynode" }
        return (environment("HOME") ?? "/tmp") + "/.local/state/skynode"
    }

    static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else { return "/" + path }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }

    /// A node's name as a file's: names may hold what paths must not.
    static func fileName(_ name: String) -> String {
        let text = String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
        return text.hasPrefix(".") ? "_" + text.dropFirst() : text
    }
}
