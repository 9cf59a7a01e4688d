import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite struct BeaconSocketsTests {
    @Test func `an interface with two addresses is heard until the last of them goes`() async throws {
        var settings = MulticastSettings()
        settings.group = "239.255.77.91"
        settings.port = 47_391
        let index = try #require(NetworkInterface.all().first { $0.isLoopback }?.index)
        let paths = try ["127.0.0.1", "127.0.0.2"].map {
            BeaconPath(interface: "lo", index: index, address: try #require(IPAddress($0)))
        }
        let heard = NIOLockedValueBox(Set<String>())
        let sockets = BeaconSockets(settings, loop: MultiThreadedEventLoopGroup.singleton.next()) { envelope in
            heard.withLockedValue { _ = $0.insert(String(buffer: envelope.data)) }
        }
        try await sockets.bind()
        for path in paths { try await sockets.open(path) }
        #expect(sockets.paths == Set(paths))
        await sockets.close(paths[0])
        sockets.send { _ in ByteBuffer(string: "one address left") }
        #expect(await eventually { heard.withLockedValue { $0.contains("one address left") } })
        try await sockets.open(paths[0])
        #expect(sockets.paths == Set(paths), "it can come back")
        await sockets.close()
    }
}
