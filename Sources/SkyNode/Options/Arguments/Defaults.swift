import Glibc
import SkyCore
import Transport

/// The values that are used where nothing is specified.
enum Defaults {
    /// Port of the daemon. It is above the well-known ports, and not registered for another service in wide use.
    static let port = 7420

    /// Address of the daemon of this machine.
    static let daemon = NodeAddress.hostPort(host: "127.0.0.1", port: port)

    /// Address at which HTTP is answered.
    static let http = NodeAddress.hostPort(host: "127.0.0.1", port: httpPort)
    static let httpPort = 7422

    /// How long a command waits for a node that is lost: long enough for a machine to restart.
    static let patience = Duration.seconds(120)

    /// One slot for each processor that this process may use now: scans compute without waiting.
    static var slots: Int { min(NodeSettings.slotLimit, ProcessorShare.ofThisProcess.count) }

    /// The host's name up to its first dot.
    static var name: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "skynode" }
        let host = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let short = String(host.prefix { $0 != "." })
        return Hello.isValidName(short) ? short : "skynode"
    }

    /// The path of this program, for starting worker processes. It is not `argv[0]`, because that may be relative to another
    /// folder.
    static let executable = "/proc/self/exe"

    /// The folder in which nodes keep jobs and results. It is the one that systemd names (`StateDirectory=`). Otherwise it is the
    /// place for the system's own state for root (FHS 3.0, 5.8) and for the service's user, who has that folder, and that of the XDG base
    /// directory specification for other users. There is none for a user without a home.
    static var dataHome: String? {
        if let state = environment("STATE_DIRECTORY"), state.hasPrefix("/") { return state }
        let system = "/var/lib/skynode"
        var status = stat()
        if geteuid() == 0 || stat(system, &status) == 0 && status.st_uid == geteuid() { return system }
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/skynode" }
        return Account.home.map { $0 + "/.local/state/skynode" }
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

    /// A node's name as the name of a file. Names may contain characters that paths must not.
    static func fileName(_ name: String) -> String {
        let text = String(name.map { $0.isLetter || $0.isNumber || "-_.".contains($0) ? $0 : "_" })
        return text.hasPrefix(".") ? "_" + text.dropFirst() : text
    }
}
