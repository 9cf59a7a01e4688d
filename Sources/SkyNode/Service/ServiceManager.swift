import Glibc

/// The service manager that started this process, if it wants to hear from it, by sd_notify(3). The protocol is a datagram of lines
/// to the socket that `NOTIFY_SOCKET` names.
struct ServiceManager: Sendable {
    private let path: String
    /// How often the manager wants a sign of life; `nil` for never (sd_watchdog_enabled(3)).
    let watchdog: Duration?

    /// The result is `nil` where nobody listens.
    init?(environment: [String: String], process: pid_t = getpid()) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < ServiceManager.pathLimit
        else { return nil }
        self.path = path
        let isMeant = environment["WATCHDOG_PID"].map { pid_t($0) == process } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Bytes of `sockaddr_un.sun_path`.
    private static let pathLimit = 108

    /// Something that the manager may be told.
    enum Word {
        /// The node listens, and takes work.
        case ready
        /// A line for `systemctl status`.
        case status(String)
        /// All is well.
        case alive
        case stopping
        /// The start or the end may take so much longer.
        case needs(Duration)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=" + text.filter { !$0.isNewline }
            case .alive: "WATCHDOG=1"
            case .stopping: "STOPPING=1"
            case .needs(let duration): "EXTEND_TIMEOUT_USEC=\(duration.components.seconds * 1_000_000)"
            }
        }
    }

    /// Tells the manager; one that does not listen is no reason to stop.
    func notify(_ words: Word...) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: path.utf8)
            // An abstract socket's name begins with a zero.
            if path.hasPrefix("@") { bytes[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.utf8.count)
        let text = Array(words.map(\.line).joined(separator: "\n").utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), pointer, length)
            }
        }
    }
}
