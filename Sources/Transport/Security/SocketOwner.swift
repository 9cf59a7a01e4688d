import Glibc
import NIOCore

/// Which user of this machine has the other end of a connection. One question to the kernel tells it (sock_diag(7)), whatever the
/// number of connections.
enum SocketOwner {
    /// The values are from linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h, which Swift does not import.
    private static let netlink: UInt16 = 16
    private static let diagnosis: Int32 = 4
    private static let byFamily: UInt16 = 20
    private static let request: UInt16 = 1
    /// The sizes of `nlmsghdr`, of `inet_diag_req_v2` with its `inet_diag_sockid`, and of `inet_diag_msg`.
    private static let headerLength = 16
    private static let questionLength = 56
    private static let answerLength = 72
    /// User and inode are behind family, state, timer, retransmissions, the socket's id, and three words.
    private static let userOffset = 64

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
        guard let question = question(from: peer, to: own) else { return .unknown }
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(Int32(netlink), kind, diagnosis)
        guard socket >= 0 else { return .unknown }
        defer { close(socket) }
        // The kernel answers within the call that asks. The limit is for the case that it should not.
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
        buffer.writeMultipleIntegers(UInt32(headerLength + questionLength), byFamily, request, endianness: .host)
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
        var buffer = ByteBuffer(bytes: bytes)
        guard let (length, kind) = buffer.readMultipleIntegers(endianness: .host, as: (UInt32, UInt16).self),
            buffer.readSlice(length: headerLength - 6) != nil
        else { return .unknown }
        guard kind == byFamily else {
            // This is an error, as a negative errno. It is ENOENT where there is no such socket.
            let code = kind == 2 ? buffer.readInteger(endianness: .host, as: Int32.self) : nil
            return code == -ENOENT ? .nobody : .unknown
        }
        guard length >= headerLength + answerLength, buffer.readableBytes >= answerLength,
            let user = buffer.getInteger(at: buffer.readerIndex + userOffset, endianness: .host, as: UInt32.self),
            let inode = buffer.getInteger(at: buffer.readerIndex + userOffset + 4, endianness: .host, as: UInt32.self)
        else { return .unknown }
        // A socket that was closed, with bytes still on their way, has no owner and says root.
        return inode == 0 ? .nobody : .user(user)
    }
}
