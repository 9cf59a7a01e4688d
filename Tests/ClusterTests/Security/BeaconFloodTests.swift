import Base
import Foundation
import Glibc
import Testing

/// Anybody on the network may send to the group.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct BeaconFloodTests {
    @Test func `a flood of datagrams costs neither memory nor the running job`() async throws {
        try await RunningCluster.with(2, slots: 2) { cluster in
            let seed = ProcessInfo.processInfo.environment["FLOOD_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
            print("flood: FLOOD_SEED=\(seed)")
            let flood = try Flood(cluster.multicast, seed: seed)
            // The first datagram of each kind allocates memory that does not count as growth.
            flood.send(1000)
            let before = try cluster.nodes.map { try memory(of: $0.pid) }
            let job = try RunningProcess(
                Skynode.path,
                [
                    "simulate", "--node", cluster.addresses[0], "--tasks", "60", "--duration", "50ms", "--format",
                    "json",
                ])
            await Task.detached { flood.send(100_000) }.value
            let ended = await job.end()
            #expect(ended.status == 0)
            #expect(ended.output.last?.contains("\"completed\":60") == true, "\(ended.output.last ?? "")")
            #expect(ended.output.last?.contains("\"retried\":0") == true, "no node was lost")
            for (node, before) in zip(cluster.nodes, before) {
                let growth = try memory(of: node.pid) - before
                #expect(growth < (Skynode.isSanitized ? 12 : 6) << 20, "\(growth) bytes more")
            }
            for node in cluster.nodes {
                node.send(SIGTERM)
                let log = await node.end().errors
                // Eight kinds of trouble are reported, and at the start one line about the missing key.
                #expect((1...10).contains(log.count), "\(log)")
                #expect(!log.contains { $0.contains("flood") }, "a forged text was logged")
            }
        }
    }

    /// Resident memory in bytes.
    private func memory(of process: pid_t) throws -> Int {
        let fields = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// Sends datagrams to a multicast group on loopback: noise, beacons of other clusters and versions, forged ones.
private final class Flood: Sendable {
    private let descriptor: Int32
    private let datagrams: [[UInt8]]

    /// - Parameter seed: where its random bytes start.
    init(_ group: String, seed: UInt64) throws {
        let parts = group.split(separator: ":")
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var interface = in_addr(s_addr: inet_addr("127.0.0.1"))
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, socklen_t(MemoryLayout<in_addr>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(parts[1]) ?? 0).bigEndian
        address.sin_addr.s_addr = inet_addr(String(parts[0]))
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard descriptor >= 0, connected == 0 else { throw SpawnFailure(reason: String(cString: strerror(errno))) }
        self.descriptor = descriptor
        let name = Array("flood\u{1B}[2J".utf8)
        var random = SplitMix64(seed: seed)
        func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
        func beacon(version: UInt8, cluster: UInt64) -> [UInt8] {
            let head: [UInt8] = [0x53, 0x4B, 0x59, 0x42, version, 1]
            let mark = (0..<8).reversed().map { UInt8(truncatingIfNeeded: cluster >> (8 * UInt64($0))) }
            // Key 0, then random bytes.
            return head + mark + [UInt8](repeating: 0, count: 8) + name + noise(120)
        }
        // FNV-1a of "skynet", so that it looks like one of ours up to the tag.
        let ours = "skynet".utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        datagrams =
            (0..<64).map { _ in noise(Int.random(in: 0...700, using: &random)) }
            + (0..<64).map { _ in beacon(version: 2, cluster: ours) }
            + (0..<32).map { beacon(version: 2, cluster: UInt64($0)) } + (0..<8).map { beacon(version: $0, cluster: 7) }
    }

    deinit { close(descriptor) }

    func send(_ count: Int) {
        for number in 0..<count {
            _ = datagrams[number % datagrams.count].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, 0)
            }
        }
    }
}
