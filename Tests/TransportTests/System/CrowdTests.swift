import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Many connections that are up to no good, beside a link that works.
@Suite(.timeLimit(.minutes(2))) struct CrowdTests {
    @Test func `a thousand silent, broken and half-open connections do not disturb a link`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            guard case .hostPort(let host, let port) = server.listeningAddress else { return }
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: true)
            var channels: [any Channel] = []
            for number in 0..<1000 {
                let channel = try await bootstrap.connect(host: host, port: port).get()
                switch number % 3 {
                case 0: break
                case 1: channel.writeAndFlush(ByteBuffer(repeating: UInt8(number % 251), count: 300), promise: nil)
                default: channel.close(mode: .output, promise: nil)
                }
                channels.append(channel)
                if number % 50 == 0 { try await remote.note(number, ByteBuffer()) }
            }
            #expect(try await remote.numbers().count == 20)
            #expect(server.pendingConnections <= server.settings.pendingConnections)
            for channel in channels { try? await channel.close().get() }
            withExtendedLifetime(local) {}
        }
    }

    @Test func `an honest node gets in while others hold all places`() async throws {
        var settings = TestCluster.settings("server")
        settings.pendingConnections = 8
        try await TestCluster.run([settings, TestCluster.settings("client")]) { systems in
            let address = try #require(systems[0].listeningAddress)
            guard case .hostPort(let host, let port) = address else { return }
            var channels: [any Channel] = []
            for _ in 0..<50 {
                channels.append(
                    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(host: host, port: port).get())
            }
            try await systems[1].join(address)
            #expect(systems[0].pendingConnections <= 8)
            for channel in channels { try? await channel.close().get() }
        }
    }
}
