import Glibc
import Transport

/// What holds where nothing is said.
enum Defaults {
    /// Port of the daemon. Above the well-known ones, not registered for another service in wide use.
    static let port = 7420

    /// Address of the daemon of this machine.
    static let daemon = NodeAddress.hostPort(host: "127.0.0.1", port: port)

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
}
