import Base
import NIOCore

@testable import Transport

/// Datagrams of anybody, and the addresses that people and peers write.
enum BeaconTarget: FuzzTarget {
    static let name = "beacon"

    static func run(_ input: FuzzInput) {
        var input = input
        switch input.byte() & 3 {
        case 0, 1: read(input.rest())
        case 2: write(&input)
        default: readAddress(String(decoding: input.rest(), as: UTF8.self))
        }
    }

    private static func read(_ bytes: [UInt8]) {
        guard let beacon = try? Beacon(ByteBuffer(bytes: bytes)) else { return }
        check(beacon)
        require(beacon.encoded().array == bytes, "a beacon has one form: \(beacon)")
        // A datagram comes in a buffer of its own or as part of one.
        let padded = ByteBuffer(bytes: [1, 2, 3] + bytes + [4])
        let inside = padded.getSlice(at: 3, length: bytes.count)
        require(inside.flatMap { try? Beacon($0) } == beacon, "wherever it stands")
        filter(beacon)
    }

    private static func write(_ input: inout FuzzInput) {
        let beacon = Beacon(
            input.choice(of: [.announce, .solicit, .goodbye]),
            cluster: ClusterMark(name: StableHash.of(input.text()), key: input.integer()),
            node: NodeID(rawValue: input.integer()), sequence: input.integer(), sent: input.integer(),
            validity: input.integer(), port: input.integer(), host: input.text(), name: input.text(),
            places: places(&input))
        let isValid =
            Hello.isValidName(beacon.name) && (beacon.host.isEmpty || NodeAddress.isValidHost(beacon.host))
        let bytes = beacon.encoded()
        if isValid {
            require(bytes.readableBytes + Beacon.tagLength < Beacon.sizeLimit, "a beacon fits its limit")
            require((try? Beacon(bytes)) == beacon, "a beacon survives the wire: \(beacon)")
        }
        if let read = try? Beacon(bytes) { check(read) }
    }

    private static func places(_ input: inout FuzzInput) -> [Beacon.Place] {
        (0..<input.byte() & 15).map { _ in
            let length = input.choice(of: [0, 4, 16])
            return IPAddress(bytes: input.take(length)).map { .address($0) } ?? .source
        }
    }

    private static func check(_ beacon: Beacon) {
        require(isOneLine(beacon.name) && isOneLine(beacon.host), "texts fit for a terminal: \(beacon)")
        require(beacon.places.count <= Beacon.placeLimit, "few places: \(beacon)")
        guard let source = try? SocketAddress(ipAddress: "192.168.1.7", port: 50_000) else { return }
        let addresses = beacon.addresses(from: source)
        if beacon.port == 0 { require(addresses.isEmpty, "who only asks has no address: \(beacon)") }
        for address in addresses {
            require(address.isDialable, "an address that can be dialled: \(address)")
        }
    }

    private static func filter(_ beacon: Beacon) {
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        let now = beacon.sent
        let first = filter.fault(beacon, now: now)
        require(first == (beacon.node == NodeID(rawValue: 1) ? .own : nil), "a fresh beacon counts: \(beacon)")
        if first == nil { require(filter.fault(beacon, now: now) == .replayed, "once: \(beacon)") }
    }

    private static func readAddress(_ text: String) {
        _ = MulticastSettings(text)
        guard let address = NodeAddress(text) else { return }
        guard case .hostPort(let host, let port) = address else {
            fatalError("does not hold: text is read as a host and a port: \(address)")
        }
        require(NodeAddress.isValidHost(host) && (0...65535).contains(port), "a host and a port: \(address)")
        require(NodeAddress(address.description) == address, "an address reads back: \(address)")
        require(isOneLine(address.description), "an address is fit for a terminal: \(address)")
        if let bytes = IPv4.bytes(of: host) {
            require(bytes.map(String.init).joined(separator: ".") == host, "an IPv4 address has one form: \(host)")
        }
    }

    static func seeds() -> [[UInt8]] {
        let places: [Beacon.Place] =
            [.source] + ["10.0.0.7", "fd00::7"].compactMap(IPAddress.init).map { .address($0) }
        let beacons = ["", "anna.example", "fd00::2"].map { host in
            Beacon(
                .solicit, cluster: ClusterMark(name: 7, key: 8), node: NodeID(rawValue: 0xABCD), sequence: 9,
                sent: 1_800_000_000_000, validity: 30, port: 7420, host: host, name: "anna", places: places)
        }
        let texts = ["anna:7420", "[fd00::2]:1", "239.255.83.75:7421", "10.0.0.1:65535"]
        return beacons.map { [0] + $0.encoded().array } + texts.map { [3] + Array($0.utf8) }
            + [[2, 1, 1, 65] + [UInt8](repeating: 1, count: 36) + [1, 97, 2, 97, 98, 2, 1, 10, 0, 0, 7]]
    }
}
