/// One way for beacons out of this machine and into it: an interface, and the address of the interface that they come from.
package struct BeaconPath: Hashable, Sendable, CustomStringConvertible {
    package var interface: String
    /// The kernel's number for the interface.
    package var index: Int
    package var address: IPAddress

    package var description: String { "\(address)%\(interface)" }

    /// The paths to use, out of the given interfaces.
    ///
    /// - Parameters:
    ///   - names: interfaces or addresses to use; where this is empty, `listening` decides.
    ///   - listening: loopback means loopback alone, any other address means the interface that has it, and a wildcard or `nil`
    ///     means every interface that does multicast.
    static func plan(
        _ interfaces: [NetworkInterface], named names: [String], listening: NodeAddress?
    ) -> Set<BeaconPath> {
        if !names.isEmpty { return Set(names.flatMap { paths(named: $0, interfaces) }) }
        guard case .hostPort(let host, _) = listening, listening?.isWildcard == false else {
            // `lo` is among them, for the other nodes of this machine.
            return Set(interfaces.filter { $0.hasMulticast || $0.isLoopback }.flatMap(paths))
        }
        if listening?.isLoopback == true { return Set(interfaces.filter(\.isLoopback).flatMap(paths)) }
        let own = paths(named: host, interfaces)
        // If the host is a name, or an address of another machine, as with NAT, any interface may be the right one.
        return own.isEmpty ? plan(interfaces, named: [], listening: nil) : Set(own)
    }

    /// The error for the first of `names` that is nowhere on this machine; `nil` where there is none.
    static func missing(_ names: [String], _ interfaces: [NetworkInterface]) -> NetworkInterfaceError? {
        names.first { paths(named: $0, interfaces).isEmpty }.map { name in
            NetworkInterfaceError(name: name, known: interfaces.map(\.name).sorted().joined(separator: ", "))
        }
    }

    private static func paths(named name: String, _ interfaces: [NetworkInterface]) -> [BeaconPath] {
        if let interface = interfaces.first(where: { $0.name == name }) { return paths(interface) }
        guard let address = IPAddress(name) else { return [] }
        return interfaces.filter { $0.addresses.contains(address) }
            .flatMap { interface in
                // IPv6 multicast of link scope leaves from the link-local address, whatever the node's own address is.
                paths(interface).filter { !address.isIPv4 || $0.address == address }
                    .filter { $0.address.isIPv4 == address.isIPv4 }
            }
    }

    /// The paths of an interface. Over IPv4 there is one for each address, because each may belong to another network; over IPv6
    /// there is one for the interface.
    private static func paths(_ interface: NetworkInterface) -> [BeaconPath] {
        let ipv6 = interface.hasMulticast ? interface.addresses.first { !$0.isIPv4 && $0.isLinkLocal } : nil
        let sources = interface.addresses.filter(\.isIPv4) + [ipv6].compactMap(\.self)
        return sources.map { BeaconPath(interface: interface.name, index: interface.index, address: $0) }
    }
}
