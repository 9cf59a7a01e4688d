import Testing

@testable import Transport

@Suite struct BeaconPathTests {
    private let interfaces = [
        NetworkInterface.made("lo", 1, ["127.0.0.1", "::1"], hasMulticast: false),
        NetworkInterface.made("eth0", 2, ["10.0.0.5", "10.1.0.5", "fe80::5", "fd00::5"]),
        NetworkInterface.made("wlan0", 3, ["192.168.1.5", "fe80::6"]),
        NetworkInterface.made("tun0", 4, ["172.16.0.5"], hasMulticast: false),
    ]

    private func plan(_ names: [String] = [], listening: String?) -> [String] {
        BeaconPath.plan(interfaces, named: names, listening: listening.flatMap { NodeAddress($0) })
            .map(\.description).sorted()
    }

    @Test func `a wildcard takes every interface that does multicast, and loopback`() {
        let all = [
            "10.0.0.5%eth0", "10.1.0.5%eth0", "127.0.0.1%lo", "192.168.1.5%wlan0", "fe80::5%eth0", "fe80::6%wlan0",
        ]
        for listening in [nil, "0.0.0.0:7420", "[::]:7420"] { #expect(plan(listening: listening) == all) }
    }

    @Test func `the listening address decides unless interfaces are named`() {
        #expect(plan(listening: "127.0.0.1:7420") == ["127.0.0.1%lo"])
        #expect(plan(listening: "10.1.0.5:7420") == ["10.1.0.5%eth0"])
        #expect(plan(listening: "[fd00::5]:7420") == ["fe80::5%eth0"])
        #expect(plan(listening: "203.0.113.9:7420").count == 6, "an address of another machine, as with NAT")
        #expect(plan(["tun0"], listening: "10.1.0.5:7420") == ["172.16.0.5%tun0"], "the operator knows better")
        #expect(
            plan(["wlan0", "10.0.0.5"], listening: nil) == ["10.0.0.5%eth0", "192.168.1.5%wlan0", "fe80::6%wlan0"])
    }

    @Test func `an unknown interface is refused, and the error lists the existing ones`() {
        #expect(BeaconPath.missing(["eth0", "127.0.0.1"], interfaces) == nil)
        let error = BeaconPath.missing(["eth0", "eth7"], interfaces)
        #expect(error?.name == "eth7" && error?.known == "eth0, lo, tun0, wlan0")
        #expect(BeaconPath.missing(["10.9.9.9"], interfaces) != nil)
    }

    @Test func `a beacon names its source address first, then the node's others`() throws {
        let paths = BeaconPath.plan(interfaces, named: [], listening: nil)
        func places(_ path: String, _ listening: String) throws -> [String] {
            let path = try #require(paths.first { $0.description == path })
            return BeaconPlaces(paths, listening: NodeAddress(listening)).by(path).map { place in
                switch place {
                case .source: "source"
                case .address(let address): address.description
                }
            }
        }
        #expect(try places("10.0.0.5%eth0", "0.0.0.0:1") == ["source", "10.1.0.5", "192.168.1.5"])
        #expect(try places("127.0.0.1%lo", "0.0.0.0:1") == ["source"])
        #expect(try places("fe80::5%eth0", "[::]:1") == ["source", "10.0.0.5", "10.1.0.5", "192.168.1.5"])
        #expect(
            try places("fe80::5%eth0", "0.0.0.0:1") == ["10.0.0.5", "10.1.0.5", "192.168.1.5"],
            "nobody listens where it comes from")
    }

    @Test func `addresses are compared and classified`() throws {
        func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
        #expect(try address("fe80::1%eth0") == address("fe80::1"))
        for text in ["10.0.0.1", "169.254.1.1", "2001:db8::1", "fd00::1"] { #expect(try address(text).isRoutable) }
        for text in ["127.0.0.1", "::1", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255"] {
            #expect(try !address(text).isRoutable, "\(text)")
        }
        #expect(IPAddress("anna") == nil && IPAddress(bytes: [1, 2, 3]) == nil)
    }
}

extension NetworkInterface {
    static func made(
        _ name: String, _ index: Int, _ addresses: [String], hasMulticast: Bool = true
    ) -> NetworkInterface {
        NetworkInterface(
            name: name, index: index, addresses: addresses.compactMap { IPAddress($0) }, hasMulticast: hasMulticast)
    }
}
