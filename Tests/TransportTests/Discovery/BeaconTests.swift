import NIOCore
import Testing

@testable import Transport

@Suite struct BeaconTests {
    private let beacon = Beacon.sample()
    private var source: SocketAddress {
        get throws { try SocketAddress(ipAddress: "192.168.1.7", port: 50_000) }
    }

    private func read(_ bytes: [UInt8]) -> Beacon? { try? Beacon(ByteBuffer(bytes: bytes)) }

    @Test func `a beacon survives the wire and stays small`() throws {
        var full = beacon
        full.places = try [.source] + (1...7).map { .address(try #require(IPAddress("fd00::\($0)"))) }
        for beacon in [beacon, full] {
            let bytes = beacon.encoded()
            #expect(try Beacon(bytes) == beacon)
            #expect(bytes.readableBytes + Beacon.tagLength < Beacon.sizeLimit)
        }
    }

    @Test func `the addresses are those that the beacon names, the best first`() throws {
        #expect(beacon.addresses(from: try source) == [.hostPort(host: "192.168.1.7", port: 7420)])
        var many = beacon
        many.places = try ["10.0.0.7", "127.0.0.1", "192.168.1.7", "fe80::7", "0.0.0.0", "224.0.0.1", "fd00::7"]
            .map { .address(try #require(IPAddress($0))) }
        many.places.insert(.source, at: 1)
        let hosts = ["10.0.0.7", "192.168.1.7", "fd00::7"]
        #expect(
            many.addresses(from: try source) == hosts.map { .hostPort(host: $0, port: 7420) },
            "loopback, link-local and unassigned addresses are of no use elsewhere; none is named twice")
        var named = beacon
        named.host = "anna.example"
        named.places = []
        #expect(named.addresses(from: try source) == [.hostPort(host: "anna.example", port: 7420)])
        named.port = 0
        #expect(named.addresses(from: try source) == [], "a node that only asks is not dialled")
    }

    @Test func `a link-local source keeps the interface it came by`() throws {
        let source = try SocketAddress(ipAddress: "fe80::7", port: 50_000).scoped(to: 3)
        #expect(source.scope == 3)
        let addresses = beacon.addresses(from: source)
        #expect(addresses == [.hostPort(host: "fe80::7%3", port: 7420)])
        #expect(addresses[0].isScoped && addresses[0].description == "[fe80::7%3]:7420")
        #expect(NodeAddress("10.0.0.7:1")?.isScoped == false)
    }

    @Test func `the longest host and name survive`() {
        // Found by the fuzzer: what is more than 200 bytes long was cut.
        var long = beacon
        long.host = String(repeating: "h", count: 253)
        long.name = String(repeating: "n", count: Hello.nameLimit)
        long.places = []
        #expect((try? Beacon(long.encoded())) == long)
        #expect(long.encoded().readableBytes + Beacon.tagLength < Beacon.sizeLimit)
    }

    @Test(arguments: ["a\u{9b}2J", "a b", "[a]"]) func `a beacon with a malformed host is refused`(host: String) {
        var bad = beacon
        bad.host = host
        bad.places = []
        #expect(throws: BeaconFault.malformed) { try Beacon(bad.encoded()) }
    }

    @Test func `damaged, too long and foreign datagrams are refused`() {
        let bytes = Array(beacon.encoded().readableBytesView)
        for length in 0..<bytes.count { #expect(read(Array(bytes.prefix(length))) == nil) }
        #expect(read(bytes + [0]) == nil)
        #expect(read([UInt8](repeating: 0x53, count: 2000)) == nil)
        #expect(read(Array("M-SEARCH * HTTP/1.1\r\n".utf8)) == nil)
    }

    @Test func `random changes of a beacon never crash and never give a bad name`() {
        var generator = SeededGenerator(seed: 5)
        let bytes = Array(beacon.encoded().readableBytesView)
        for _ in 0..<50_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if let read = read(changed) {
                #expect(Hello.isValidName(read.name) && read.places.count <= Beacon.placeLimit)
            }
        }
    }
}

extension Beacon {
    /// One of a node that is called anna.
    static func sample(
        _ kind: Kind = .solicit, cluster: ClusterMark = ClusterMark(name: 7, key: 8), node: UInt64 = 0xABCD,
        sequence: UInt64 = 1, sent: UInt64 = 1_800_000_000_000
    ) -> Beacon {
        Beacon(
            kind, cluster: cluster, node: NodeID(rawValue: node), sequence: sequence, sent: sent, validity: 30,
            port: 7420, name: "anna", places: [.source])
    }
}
