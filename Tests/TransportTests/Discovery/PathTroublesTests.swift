import Testing

@testable import Transport

@Suite struct PathTroublesTests {
    private func path(_ address: String) throws -> BeaconPath {
        BeaconPath(interface: "eth0", index: 2, address: try #require(IPAddress(address)))
    }

    @Test func `an IPv6 address that the kernel still asks the network about is waited for without a word`() throws {
        var troubles = PathTroubles()
        let path = try path("fe80::1")
        for second in 0..<5 { #expect(troubles.failed(path, isAbsent: true, now: .seconds(10 + second)) == false) }
        troubles.opened(path)
        // Gone and come back: asked about again.
        #expect(troubles.failed(path, isAbsent: true, now: .seconds(100)) == false)
    }

    @Test func `where it lasts it is told, once`() throws {
        var troubles = PathTroubles()
        let path = try path("fe80::1")
        let published = (0..<100).filter { troubles.failed(path, isAbsent: true, now: .seconds($0)) }
        #expect(published == [5])
    }

    @Test func `anything else is told at once, and once`() throws {
        var troubles = PathTroubles()
        for (address, isAbsent) in [("10.0.0.1", true), ("fe80::2", false)] {
            let path = try path(address)
            #expect(troubles.failed(path, isAbsent: isAbsent, now: .zero) == true)
            #expect(troubles.failed(path, isAbsent: isAbsent, now: .seconds(1)) == false)
        }
    }
}
