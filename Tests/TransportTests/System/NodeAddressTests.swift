import Testing

@testable import Transport

@Suite struct NodeAddressTests {
    @Test(arguments: ["127.0.0.1:7420", "localhost:0", "[::1]:80", "node-3.lan:65535"])
    func `an address is read and written alike`(text: String) {
        #expect(NodeAddress(text)?.description == text)
    }

    @Test(arguments: ["", ":", "host", "host:", "host:x", "host:-1", "host:65536", ":7420", "::1:80", "a b:1", "a\n:1"])
    func `what is no address is refused`(text: String) {
        #expect(NodeAddress(text) == nil)
    }

    @Test func `loopback and wildcard are recognised`() {
        #expect(NodeAddress("127.0.0.5:1")?.isLoopback == true)
        #expect(NodeAddress("10.0.0.5:1")?.isLoopback == false)
        #expect(NodeAddress("0.0.0.0:1")?.isWildcard == true)
    }
}
