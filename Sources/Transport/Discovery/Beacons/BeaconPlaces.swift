/// The addresses that a node's beacons name, as a value.
struct BeaconPlaces {
    private let addresses: [IPAddress]
    private let hearsIPv6: Bool
    private let hearsIPv4: Bool

    /// - Parameters:
    ///   - paths: the ways by which beacons go.
    ///   - listening: where connections are accepted.
    init(_ paths: Set<BeaconPath>, listening: NodeAddress?) {
        var host = ""
        if case .hostPort(let listening, _) = listening { host = listening }
        // A socket for `::` takes connections of both families.
        hearsIPv4 = IPAddress(host)?.isIPv4 != false || host == "::"
        hearsIPv6 = IPAddress(host)?.isIPv4 == false
        addresses = paths.map(\.address).filter { $0.isIPv4 && $0.isRoutable }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    /// The places in the beacons on a path. The first is the address that the receivers see, where it takes connections. Then come
    /// the others that they may have a way to.
    func by(_ path: BeaconPath) -> [Beacon.Place] {
        let source: [Beacon.Place] = (path.address.isIPv4 ? hearsIPv4 : hearsIPv6) ? [.source] : []
        // A receiver on loopback is on this machine and needs no other addresses.
        if path.address.isLoopback { return source }
        let others = hearsIPv4 ? addresses.filter { $0 != path.address }.map { Beacon.Place.address($0) } : []
        return Array((source + others).prefix(Beacon.placeLimit))
    }
}
