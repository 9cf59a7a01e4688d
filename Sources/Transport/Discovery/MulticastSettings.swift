/// How nodes find each other by multicast.
public struct MulticastSettings: Hashable, Sendable {
    /// IPv4 group; 239/8 is for use within one site (RFC 2365).
    public var group = "239.255.83.75"
    /// IPv6 group of link scope (RFC 4291), "SKYN" in its last four bytes; `nil` uses IPv4 alone.
    public var group6: String? = "ff02::534b:594e"
    /// UDP port of the groups, shared by all nodes of a machine.
    public var port = 7421
    /// Interfaces to use, by name (`eth0`) or address. Where there are none, the listening address decides: loopback alone for a
    /// node that listens on loopback, otherwise every interface that is up, and those that come later.
    public var interfaces: [String] = []
    /// How many routers a beacon may cross. 1 keeps it on the local network.
    public var timeToLive = 1

    /// Checks that this machine has the interfaces, as the start of discovery does.
    ///
    /// - Throws: `NetworkInterfaceError` naming the first one that it does not have.
    package func checkInterfaces() throws {
        if let missing = BeaconPath.missing(interfaces, try NetworkInterface.all()) { throw missing }
    }

    public init() {}

    /// Reads `GROUP:PORT` for an IPv4 multicast group; `nil` where the text is something else.
    public init?(_ text: String) {
        guard case .hostPort(let host, let port) = NodeAddress(text), port > 0, let bytes = IPv4.bytes(of: host),
            (224...239).contains(bytes[0])
        else { return nil }
        group = host
        self.port = port
    }
}

/// The group's port cannot be used here.
public struct MulticastError: Error, CustomStringConvertible {
    /// Group and port.
    public let group: String
    /// The reason, in the system's words.
    public let reason: String

    package init(group: String, reason: String) {
        (self.group, self.reason) = (group, reason)
    }

    public var description: String {
        "cannot listen for other nodes on \(group) (\(reason)); --multicast takes another group and port, "
            + "--no-multicast does without"
    }
}
