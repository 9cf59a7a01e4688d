import Base
import Glibc
import NIOCore
import SkyCore
import Transport

/// Why a node could not start, for the person who started it.
enum StartFailure {
    static func command(_ error: any Error, listen: NodeAddress?) -> CommandFailure {
        if let error = error as? NetworkInterfaceError { return CommandFailure(.usage, "--interface: \(error)") }
        if let error = error as? JournalError { return CommandFailure(.usage, PrintableText.of(error.message)) }
        if let error = error as? SkyError { return CommandFailure(.usage, PrintableText.of(error.message)) }
        if let error = error as? SecurityError { return CommandFailure(.usage, error.description) }
        if let error = error as? MulticastError { return CommandFailure(.usage, PrintableText.of(error.description)) }
        let place = listen.map { "\($0)" } ?? "its address"
        if error is SocketAddressError, case .hostPort(let host, _) = listen, host.contains(":") {
            return CommandFailure(.usage, "cannot listen on \(place): this machine has no IPv6")
        }
        return CommandFailure(.usage, "cannot listen on \(place): \(reason(error))")
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            "the port is busy; is a node running there already? --listen takes another, port 0 any free one"
        case EADDRNOTAVAIL: "this machine has no such address"
        case EAFNOSUPPORT: "this machine has no IPv6"
        case EACCES: "that needs more rights; ports below 1024 are for root"
        default: PrintableText.of(String(describing: error))
        }
    }
}

/// Whether a socket could be bound, as the start of a node does it.
enum ListenTrial {
    /// - Parameters:
    ///   - type: of a stream or of datagrams.
    ///   - mayBeBusy: whether a port that another process has is as it should be.
    /// - Returns: why it could not be bound; `nil` where it could.
    static func error(_ type: __socket_type, at address: NodeAddress, mayBeBusy: Bool = false) -> (any Error)? {
        guard case .hostPort(let host, let port) = address else { return nil }
        let resolved: SocketAddress
        do {
            resolved = try SocketAddress.makeAddressResolvingHost(host, port: port)
        } catch {
            return error
        }
        let family = resolved.protocol == .inet6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return IOError(errnoCode: errno, reason: "socket") }
        defer { close(descriptor) }
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let status = resolved.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
        let code = errno
        return status == 0 || code == EADDRINUSE && mayBeBusy ? nil : IOError(errnoCode: code, reason: "bind")
    }
}
