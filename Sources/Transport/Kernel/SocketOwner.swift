import CLinux
import Glibc
import NIOCore

/// Finds which user of this machine has the other end of a connection. One question to the kernel answers this (sock_diag(7)),
/// whatever the number of connections. Where the kernel does not answer, its list of sockets does.
enum SocketOwner {
    private static let byFamily = UInt16(SOCK_DIAG_BY_FAMILY)
    private static let headerLength = MemoryLayout<nlmsghdr>.size
    private static let questionLength = MemoryLayout<inet_diag_req_v2>.size
    private static let answerLength = MemoryLayout<inet_diag_msg>.size

    enum Answer: Equatable {
        case user(uid_t)
        /// There is no such connection any more, or nobody has its other end.
        case nobody
        /// The kernel does not tell.
        case unknown
    }

    /// - Parameters:
    ///   - peer: The other end's address, on this machine.
    ///   - own: This end's address.
    static func of(peer: SocketAddress, connectedTo own: SocketAddress) -> Answer {
        let answer = asked(peer: peer, connectedTo: own)
        guard answer == .unknown, let source = IPAddress(peer), let destination = IPAddress(own),
            let sourcePort = peer.port, let destinationPort = own.port
        else { return answer }
        return SocketTable.owner(of: source, sourcePort, connectedTo: destination, destinationPort)
    }

    private static func asked(peer: SocketAddress, connectedTo own: SocketAddress) -> Answer {
        guard let question = question(from: peer, to: own) else { return .unknown }
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(AF_NETLINK, kind, NETLINK_SOCK_DIAG)
        guard socket >= 0 else { return .unknown }
        defer { close(socket) }
        // The kernel answers within the call that asks. The limit is for the case that it does not.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard question.withUnsafeBytes({ send(socket, $0.baseAddress, $0.count, 0) }) == question.count else {
            return .unknown
        }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? answer(bytes[..<count]) : .unknown
    }

    /// Asks for the socket whose own address is `peer`.
    static func question(from peer: SocketAddress, to own: SocketAddress) -> [UInt8]? {
        guard let source = IPAddress(peer), let destination = IPAddress(own), let sourcePort = peer.port,
            let destinationPort = own.port, source.isIPv4 == destination.isIPv4
        else { return nil }
        var buffer = ByteBuffer()
        let length = UInt32(headerLength + questionLength)
        buffer.writeMultipleIntegers(length, byFamily, UInt16(NLM_F_REQUEST), endianness: .host)
        buffer.writeMultipleIntegers(UInt32(1), UInt32(0), endianness: .host)
        let family = source.isIPv4 ? AF_INET : AF_INET6
        buffer.writeMultipleIntegers(UInt8(family), UInt8(IPPROTO_TCP), UInt8(0), UInt8(0))
        // The question is about sockets in every state.
        buffer.writeInteger(UInt32.max, endianness: .host)
        buffer.writeMultipleIntegers(UInt16(clamping: sourcePort), UInt16(clamping: destinationPort), endianness: .big)
        for address in [source, destination] {
            buffer.writeBytes(address.bytes)
            buffer.writeRepeatingByte(0, count: 16 - address.bytes.count)
        }
        // It names no interface and no cookie.
        buffer.writeMultipleIntegers(UInt32(0), UInt32.max, UInt32.max, endianness: .host)
        return Array(buffer.readableBytesView)
    }

    static func answer(_ bytes: ArraySlice<UInt8>) -> Answer {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count >= headerLength else { return .unknown }
            let header = bytes.loadUnaligned(as: nlmsghdr.self)
            let body = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(headerLength))
            guard header.nlmsg_type == byFamily else {
                // The body is an error, as a negative errno. It is ENOENT where there is no such socket.
                let isError = header.nlmsg_type == UInt16(NLMSG_ERROR) && body.count >= MemoryLayout<Int32>.size
                return isError && body.loadUnaligned(as: Int32.self) == -ENOENT ? .nobody : .unknown
            }
            guard header.nlmsg_len >= headerLength + answerLength, body.count >= answerLength else { return .unknown }
            let message = body.loadUnaligned(as: inet_diag_msg.self)
            // A closed socket with bytes still on their way has no owner, and the kernel names root as its user.
            return message.idiag_inode == 0 ? .nobody : .user(message.idiag_uid)
        }
    }
}
