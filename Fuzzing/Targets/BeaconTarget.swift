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
        guard let beacon = Beacon(ByteBuffer(bytes: bytes)) else { return }
        require(bytes.count <= Beacon.sizeLimit, "no beacon longer than the limit")
        check(beacon)
        require(beacon.encoded().array == bytes, "a beacon has one form: \(beacon)")
        // A datagram comes in a buffer of its own or as part of one.
        let padded = ByteBuffer(bytes: [1, 2, 3] + bytes + [4])
        require(padded.getSlice(at: 3, length: bytes.count).flatMap(Beacon.init) == beacon, "wherever it stands")
    }

    private static func write(_ input: inout FuzzInput) {
        let beacon = Beacon(
            input.choice(of: [.announce, .solicit, .goodbye]), cluster: input.text(),
            node: NodeID(rawValue: input.integer()),
            validity: input.integer(), port: input.integer(), host: input.text(), name: input.text())
        let isValid =
            Hello.isValidName(beacon.name) && (beacon.host.isEmpty || NodeAddress.isValidHost(beacon.host))
        let bytes = beacon.encoded()
        if isValid {
            require(bytes.readableBytes <= Beacon.sizeLimit, "a beacon fits its limit")
            require(Beacon(bytes) == beacon, "a beacon survives the wire: \(beacon)")
        }
        if let read = Beacon(bytes) { check(read) }
    }

    private static func check(_ beacon: Beacon) {
        require(isOneLine(beacon.name) && isOneLine(beacon.host), "texts fit for a terminal: \(beacon)")
        guard let source = try? SocketAddress(ipAddress: "192.168.1.7", port: 50_000) else { return }
        let address = beacon.address(from: source)
        require((address == nil) == (beacon.port == 0), "an address unless it only asks: \(beacon)")
        if let address { require(address.isDialable, "an address that can be dialled: \(address)") }
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
        let beacons = ["", "anna.example", "fd00::2"].map { host in
            Beacon(
                .solicit, cluster: "skynet", node: NodeID(rawValue: 0xABCD), validity: 30, port: 7420, host: host,
                name: "anna")
        }
        let texts = ["anna:7420", "[fd00::2]:1", "239.255.83.75:7421", "10.0.0.1:65535"]
        return beacons.map { [0] + $0.encoded().array } + texts.map { [3] + Array($0.utf8) }
            + [[2, 1, 1, 65] + [UInt8](repeating: 1, count: 12) + [1, 97, 2, 97, 98]]
    }
}

/// No scalar that moves the cursor or ends a line.
func isOneLine(_ text: String) -> Bool {
    !text.unicodeScalars.contains { scalar in
        scalar.value < 32 || (127...159).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
