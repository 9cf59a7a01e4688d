package import NIOCore

/// A numeric IP address, IPv4 or IPv6, without port or scope.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The four or sixteen bytes, in network order.
    package let bytes: [UInt8]

    /// The result is `nil` where there are not four or sixteen bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads the usual text; a scope (`%eth0`) is left out.
    package init?(_ text: String) {
        let host = text.prefix { $0 != "%" }
        guard let address = try? SocketAddress(ipAddress: String(host), port: 0) else { return nil }
        self.init(address)
    }

    /// The address of an IP socket.
    package init?(_ address: SocketAddress) {
        // The bytes are where <netinet/in.h> puts them: behind the family and the port, and for IPv6 behind the flow label too.
        switch address {
        case .v4(let v4): self.init(bytes: withUnsafeBytes(of: v4.address) { Array($0[4..<8]) })
        case .v6(let v6): self.init(bytes: withUnsafeBytes(of: v6.address) { Array($0[8..<24]) })
        case .unixDomainSocket: return nil
        }
    }

    package var isIPv4: Bool { bytes.count == 4 }

    /// 127.0.0.0/8 and ::1.
    package var isLoopback: Bool {
        isIPv4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291): known on one link only.
    package var isLinkLocal: Bool {
        isIPv4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// 224.0.0.0/4 and ff00::/8.
    package var isMulticast: Bool { isIPv4 ? (224...239).contains(bytes[0]) : bytes[0] == 0xFF }

    /// 0.0.0.0/8, :: and 255.255.255.255, which belong to no machine.
    private var isNobody: Bool {
        isIPv4 ? bytes[0] == 0 || bytes == [255, 255, 255, 255] : bytes.allSatisfy { $0 == 0 }
    }

    /// Whether another machine can dial the address if it knows only these bytes.
    package var isRoutable: Bool {
        !isMulticast && !isNobody && !isLoopback && !(isLinkLocal && !isIPv4)
    }

    package var description: String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress ?? ""
    }
}

extension SocketAddress {
    /// The interface of an IPv6 address that means nothing without one; otherwise 0. In <netinet/in.h> it is behind the address.
    var scope: UInt32 {
        guard case .v6(let v6) = self else { return 0 }
        return withUnsafeBytes(of: v6.address) { $0.loadUnaligned(fromByteOffset: 24, as: UInt32.self) }
    }

    /// This address with an interface as its scope if it is an IPv6 address; otherwise the unchanged address.
    func scoped(to index: UInt32) -> SocketAddress {
        guard case .v6(let v6) = self else { return self }
        var address = v6.address
        withUnsafeMutableBytes(of: &address) { $0.storeBytes(of: index, toByteOffset: 24, as: UInt32.self) }
        return SocketAddress(address)
    }
}

/// Dotted-decimal IPv4 addresses.
package enum IPv4 {
    /// The four bytes, or `nil` where the text is no such address. Only one form of each number is accepted. With leading zeros the
    /// resolver would read it as octal, so that `0127.0.0.1` is not this machine but 87.0.0.1.
    package static func bytes(of text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", maxSplits: 4, omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in UInt8(part).flatMap { String($0) == part ? $0 : nil } }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }
}
