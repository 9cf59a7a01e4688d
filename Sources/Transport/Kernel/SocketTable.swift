import Glibc
import NIOCore

/// The kernel's list of TCP sockets as text, `/proc/net/tcp` and `tcp6` (proc(5)). It tells whose a connection is where the kernel
/// has no sock_diag.
enum SocketTable {
    /// The longest list that is read, in bytes: some hundred thousand sockets.
    private static let limit = 32 << 20

    /// - Parameters:
    ///   - peer: the other end's address, on this machine.
    ///   - own: this end's address.
    static func owner(of peer: IPAddress, _ peerPort: Int, connectedTo own: IPAddress, _ ownPort: Int)
        -> SocketOwner.Answer
    {
        guard let text = read(own.isIPv4 ? "/proc/net/tcp" : "/proc/net/tcp6") else { return .unknown }
        return owner(in: text, of: name(peer, peerPort), connectedTo: name(own, ownPort))
    }

    /// - Parameters:
    ///   - peer: the address as the list has it; the same with `own`.
    static func owner(in text: String, of peer: String, connectedTo own: String) -> SocketOwner.Answer {
        var lines = text.split(separator: "\n").makeIterator()
        // The columns are those of every kernel since 2.4: number, local and remote address, state, queues, timer,
        // retransmissions, user, time-out, inode.
        guard let head = lines.next(), head.contains("local_address"), head.contains("uid") else { return .unknown }
        while let line = lines.next() {
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            guard columns.count >= 10, columns[1] == peer, columns[2] == own else { continue }
            guard let user = UInt32(columns[7]), let inode = UInt64(columns[9]) else { return .unknown }
            // A socket that its process has closed is in the list as root's, without an inode.
            return inode == 0 ? .nobody : .user(user)
        }
        return .nobody
    }

    /// Address and port as the list has them: words of 32 bits in the order of this machine's bytes, then the port.
    static func name(_ address: IPAddress, _ port: Int) -> String {
        let bytes = address.bytes
        var digits = ""
        for start in stride(from: 0, to: bytes.count, by: 4) {
            let word = bytes[start..<min(start + 4, bytes.count)].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            digits += padded(String(word, radix: 16, uppercase: true), 8)
        }
        return digits + ":" + padded(String(port, radix: 16, uppercase: true), 4)
    }

    private static func padded(_ digits: String, _ count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while text.count <= limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
        return nil
    }
}
