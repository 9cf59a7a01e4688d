import NIOCore

/// An IPv4 address of this machine on which multicast can be sent and heard.
struct NetworkInterface {
    var device: NIONetworkDevice
    var address: SocketAddress
    var ip: String

    /// All IPv4 addresses of interfaces that are up. `lo` is among them although it does not claim to support
    /// multicast: it works there once the interface is named, and several nodes on one machine need it.
    static func all() throws -> [NetworkInterface] {
        try System.enumerateDevices().compactMap { device in
            guard let address = device.address, case .v4 = address, let ip = address.ipAddress else { return nil }
            return NetworkInterface(device: device, address: address, ip: ip)
        }
    }

    /// Those to use: the ones named, or those that fit the listening address.
    static func suitable(_ names: [String], listening: NodeAddress?) throws -> [NetworkInterface] {
        let all = try all()
        if !names.isEmpty {
            return try names.flatMap { name in
                let found = all.filter { $0.device.name == name || $0.ip == name }
                if found.isEmpty {
                    let known = Set(all.map(\.device.name)).sorted().joined(separator: ", ")
                    throw NetworkInterfaceError(name: name, known: known)
                }
                return found
            }
        }
        guard case .hostPort(let host, _) = listening, listening?.isWildcard == false else { return all }
        if listening?.isLoopback == true { return all.filter { $0.ip.hasPrefix("127.") } }
        let own = all.filter { $0.ip == host }
        return own.isEmpty ? all : own
    }
}

/// The operator named an interface that is not there.
public struct NetworkInterfaceError: Error, CustomStringConvertible {
    /// What was asked for.
    public let name: String
    /// What there is.
    public let known: String

    public var description: String {
        "no interface \"\(name)\" with an IPv4 address here; there are: \(known.isEmpty ? "none" : known)"
    }
}

/// The group's port cannot be used here.
public struct MulticastError: Error, CustomStringConvertible {
    /// Group and port.
    public let group: String
    /// The system's words.
    public let reason: String

    public var description: String {
        "cannot listen for other nodes on \(group) (\(reason)); --multicast takes another group and port, "
            + "--no-multicast does without"
    }
}
