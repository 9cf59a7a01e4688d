import Testing

@testable import Transport

@Suite struct PathTroublesTests {
    private func path(_ address: String) throws -> BeaconPath {
        BeaconPath(interface: "eth0", index: 2, address: try #require(IPAddress(address)))
    }

    @Test func `an IPv6 address that is still tentative is waited for silently`() throws {
        var troubles = PathTroubles()
        let path = try path("fe80::1")
        for second in 0..<5 { #expect(troubles.failed(path, isAbsent: true, now: .seconds(10 + second)) == false) }
        troubles.opened(path)
        // The address has gone and come back, so it is tentative again.
        #expect(troubles.failed(path, isAbsent: true, now: .seconds(100)) == false)
    }

    @Test func `that the kernel joins no more groups is reported once for all paths`() {
        var troubles = PathTroubles()
        #expect([troubles.reachedLimit(), troubles.reachedLimit()] == [true, false])
    }

    @Test func `a lasting trouble is reported once`() throws {
        var troubles = PathTroubles()
        let path = try path("fe80::1")
        let published = (0..<100).filter { troubles.failed(path, isAbsent: true, now: .seconds($0)) }
        #expect(published == [5])
    }

    @Test func `any other trouble is reported at once, and once`() throws {
        var troubles = PathTroubles()
        for (address, isAbsent) in [("10.0.0.1", true), ("fe80::2", false)] {
            let path = try path(address)
            #expect(troubles.failed(path, isAbsent: isAbsent, now: .zero) == true)
            #expect(troubles.failed(path, isAbsent: isAbsent, now: .seconds(1)) == false)
        }
    }
}
