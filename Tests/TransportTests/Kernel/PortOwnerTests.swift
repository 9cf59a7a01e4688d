import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite struct PortOwnerTests {
    @Test func `the kernel's table of sockets is read`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref
             1: 4B53EFEF:1CFD 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 ffff 0
             2: 0100007F:1CFC 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 2 ffff 0
             3: 0100007F:1CFC 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4713 2 ffff 0
             4: short
            """
        #expect(PortOwner.inodes(table, port: 7421, .udp) == ["4711"])
        #expect(PortOwner.inodes(table, port: 7420, .tcp) == ["4712"], "only the listening socket")
        #expect(PortOwner.inodes(table, port: 1, .udp) == [])
    }

    @Test func `this process has the port that it has bound`() async throws {
        let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        #expect(PortOwner.find(.udp, port: port).map(\.process) == [Int(getpid())])
        try await channel.close()
        #expect(PortOwner.find(.udp, port: port) == [])
    }
}
