import Testing

@testable import Transport

@Suite struct NodeAddressTests {
    @Test(arguments: ["127.0.0.1:7420", "localhost:0", "[::1]:80", "node-3.lan:65535"])
    func `an address that is read is written in the same form`(text: String) {
        #expect(NodeAddress(text)?.description == text)
    }

    @Test(arguments: ["", ":", "host", "host:", "host:x", "host:-1", "host:65536", ":7420", "::1:80", "a b:1", "a\n:1"])
    func `text that is not an address is refused`(text: String) {
        #expect(NodeAddress(text) == nil)
    }

    /// Found by the fuzzer: `[[-[]]:0` was read as the host `[-[]`, which was written as an address of another host;
    /// and U+008F went through to the terminal, as would have U+009B, which begins a control sequence there.
    @Test(arguments: ["[[-[]]:0", "[a]b:1", "2\u{8f}.6:602", "a\u{9b}2J:1", "a\u{2028}b:1", "a\u{2029}b:1"])
    func `a host with brackets or control characters is refused`(text: String) {
        #expect(NodeAddress(text) == nil)
    }

    /// The resolver reads zeros in front as octal: 0127.0.0.1 is 87.0.0.1, and a node that keeps to its own machine
    /// must not dial it.
    @Test(arguments: ["0127.0.0.1", "127.0.0.01", "+127.0.0.1", "127.0.0", "127.0.0.1.1", "127..0.1"])
    func `an IPv4 address has one form`(host: String) {
        #expect(IPv4.bytes(of: host) == nil)
        #expect(NodeAddress.hostPort(host: host, port: 1).isLoopback == false)
    }

    @Test func `loopback and wildcard are recognised`() {
        #expect(NodeAddress("127.0.0.5:1")?.isLoopback == true)
        #expect(NodeAddress("10.0.0.5:1")?.isLoopback == false)
        #expect(NodeAddress("[::ffff:127.0.0.1]:1")?.isLoopback == true)
        #expect(NodeAddress("[::ffff:10.0.0.5]:1")?.isLoopback == false)
        #expect(NodeAddress("[::1]:1")?.isLoopback == true)
        #expect(NodeAddress("0.0.0.0:1")?.isWildcard == true)
    }
}
