import NIOCore
import NIOPosix

/// An interface of this machine and its addresses.
struct NetworkInterface: Hashable, Sendable {
    var name: String
    /// The kernel's number for it.
    var index: Int
    var addresses: [IPAddress]
    /// Whether it says that it does multicast. `lo` does not say so, but does it over IPv4 all the same once it is named.
    var hasMulticast: Bool

    var isLoopback: Bool { addresses.contains { $0.isLoopback } }

    /// All interfaces that are there, by number.
    static func all() throws -> [NetworkInterface] {
        var found: [String: NetworkInterface] = [:]
        for device in try System.enumerateDevices() {
            guard let address = device.address.flatMap(IPAddress.init) else { continue }
            let new = NetworkInterface(
                name: device.name, index: device.interfaceIndex, addresses: [],
                hasMulticast: device.multicastSupported)
            found[device.name, default: new].addresses.append(address)
        }
        return found.values.sorted { $0.index < $1.index }
    }
}

/// The operator named an interface that is not there.
public struct NetworkInterfaceError: Error, CustomStringConvertible {
    /// The name that was asked for.
    public let name: String
    /// The interfaces that there are.
    public let known: String

    public var description: String {
        "no interface \"\(name)\" with an IP address here; there are: \(known.isEmpty ? "none" : known)"
    }
}
