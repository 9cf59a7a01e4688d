import Testing

@testable import SkyNode

struct HostNamesTests {
    private let hosts = HostNames(machine: "dome-3.hill.example", extra: ["sky.example.org", "*.pods.svc", "Proxy."])

    @Test(arguments: [
        "localhost", "localhost:7422", "LocalHost:", "a.localhost", "127.0.0.1:7422", "10.1.2.3", "[::1]:7422", "[::1]",
        "[fe80::1%eth0]:80", "dome-3.hill.example", "Dome-3:7422", "dome-3.", "sky.example.org:443", "proxy",
        "node-0.pods.svc:7422", "a.b.pods.svc",
    ])
    func `addresses and the node's own names are accepted`(host: String) {
        #expect(hosts.judge([host]) == .accepted)
    }

    @Test(arguments: [
        "evil.example", "localhost.evil.example", "dome-3.evil.example", "xsky.example.org", "pods.svc", "xpods.svc",
        "127.1", "0x7f000001", "2130706433", "127.0.0.1.nip.io", "dome-33", "hill.example", "localhost..",
    ])
    func `foreign host names are refused`(host: String) {
        #expect(hosts.judge([host]) == .foreign(host))
        #expect(hosts.judge([host + ":7422"]) == .foreign(host))
    }

    @Test(arguments: [
        "", ":80", "localhost:x", "localhost:123456", "localhost:-1", "::1", "[::1", "[localhost]", "[127.0.0.1]",
        "[::1]x", "[::1]:80:80", "user@localhost", "local host", "localhost/", "evil.example,localhost", "lócalhost",
        "localhost\u{0}", String(repeating: "a", count: 254),
    ])
    func `malformed hosts are refused`(host: String) {
        #expect(hosts.judge([host]) == .malformed)
    }

    @Test func `a request must name exactly one host`() {
        #expect(hosts.judge([]) == .malformed)
        #expect(hosts.judge(["localhost", "localhost"]) == .malformed)
        #expect(hosts.judge(["localhost", "evil.example"]) == .malformed)
    }

    @Test func `only valid host names can be configured`() {
        #expect(["a", "a.b", "*.a.b", "A_b-c."].allSatisfy(HostNames.isValid))
        #expect(!["", "*", "*.", "a:80", "a b", "a.*", "https://a", "[::1]"].contains(where: HostNames.isValid))
    }

    @Test func `a machine without a name of its own answers as localhost`() {
        let hosts = HostNames(machine: "", extra: [])
        #expect(hosts.judge(["localhost"]) == .accepted && hosts.judge(["."]) != .accepted)
    }
}
