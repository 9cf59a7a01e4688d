import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Many hostile connections, beside a link that works.
@Suite(.timeLimit(.minutes(5))) struct CrowdTests {
    @Test func `a thousand silent, broken and half-open connections do not disturb a link`() async throws {
        try await TestCluster.pair { server, client in
            let (local, remote) = try Ledger.pair(server, client)
            guard case .hostPort(let host, let port) = server.listeningAddress else { return }
            let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.allowRemoteHalfClosure, value: true)
            var channels: [any Channel] = []
            // Fifty at once: where the machine is busy, a wait for each would take minutes.
            for first in stride(from: 0, to: 1000, by: 50) {
                let loop = MultiThreadedEventLoopGroup.singleton.next()
                let connecting = (first..<first + 50).map { _ in bootstrap.connect(host: host, port: port) }
                for (number, channel) in try await EventLoopFuture.whenAllSucceed(connecting, on: loop).get()
                    .enumerated()
                {
                    switch number % 3 {
                    case 0: break
                    case 1:
                        let bytes = ByteBuffer(repeating: UInt8((first + number) % 251), count: 300)
                        channel.writeAndFlush(bytes, promise: nil)
                    default: channel.close(mode: .output, promise: nil)
                    }
                    channels.append(channel)
                }
                try await remote.note(first, ByteBuffer())
            }
            #expect(try await remote.numbers().count == 20)
            #expect(server.pendingConnections <= server.settings.pendingConnections)
            for channel in channels { channel.close(promise: nil) }
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
