import Glibc
import Testing

@testable import SkyNode

/// `skynode doctor` on loopback; on hosts of their own in `LabTests`.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct DoctorTests {
    /// A socket on a port that the system chooses.
    private func bound(_ kind: __socket_type, to host: String) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    @Test func `a healthy pair of nodes has no problems`() async throws {
        try await RunningCluster.with(2, slots: 1) { cluster in
            let ended = try await Skynode.run(
                "doctor", "--node", cluster.addresses[0], "--multicast", cluster.multicast, "--seconds", "5")
            #expect(ended.status == 0, "\(ended.output)")
            #expect(ended.output.contains { $0.hasPrefix("ok       lo, 127.0.0.1: sends and hears") })
            #expect(ended.output.contains { $0.hasSuffix("lists 1 others") })
            #expect(ended.output.filter { $0.hasSuffix("is heard, and answers") }.count == 1)
        }
    }

    @Test func `the program that holds the port is named`() async throws {
        let (descriptor, port) = try bound(SOCK_DGRAM, to: "0.0.0.0")
        defer { close(descriptor) }
        let ended = try await Skynode.run(
            "doctor", "--node", "127.0.0.1:1", "--multicast", "239.255.9.9:\(port)", "--seconds", "5", "--format",
            "json")
        #expect(ended.status == 1)
        let line = try #require(ended.output.first { $0.contains("\"problem\"") })
        #expect(line.contains("the port is busy") && line.contains("process \(getpid())"))
        #expect(ended.output.contains { $0.contains("no node runs at 127.0.0.1:1") })
    }

    @Test func `another program at the node's address is reported`() async throws {
        let (descriptor, port) = try bound(SOCK_STREAM, to: "127.0.0.1")
        defer { close(descriptor) }
        try #require(listen(descriptor, 8) == 0)
        let ended = try await Skynode.run("doctor", "--node", "127.0.0.1:\(port)", "--no-multicast")
        #expect(ended.status == 1)
        #expect(ended.output.contains { $0.hasPrefix("problem  what answers at 127.0.0.1:\(port)") })
    }

    @Test(arguments: [
        ["--seconds", "2"], ["--node", "10.0.0.1:7420"], ["--interface", "nonesuch"], ["--format", "xml"],
    ])
    func `wrong usage is an error`(options: [String]) async throws {
        let ended = try await Skynode.run(["doctor"] + options)
        #expect(ended.status == 2)
        #expect(!ended.errors.isEmpty)
        #expect(ended.output.isEmpty)
    }
}
