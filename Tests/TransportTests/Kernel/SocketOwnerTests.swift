import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Transport

/// Whose process is at the other end of a connection within this machine.
@Suite(.timeLimit(.minutes(5))) struct SocketOwnerTests {
    private func with(
        _ host: String, _ body: (any Channel, SocketAddress, SocketAddress) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: host, port: 0)
            .get()
        let address = try #require(server.localAddress)
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address).get()
        try await body(client, try #require(client.localAddress), address)
        try? await client.close().get()
        try await server.close().get()
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `the kernel knows which user owns a connection`(host: String) async throws {
        try await with(host) { client, here, there in
            #expect(SocketOwner.of(peer: here, connectedTo: there) == .user(geteuid()))
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `the list of sockets says the same`(host: String) async throws {
        try await with(host) { client, here, there in
            let (peer, own) = (try #require(IPAddress(here)), try #require(IPAddress(there)))
            let ports = (try #require(here.port), try #require(there.port))
            #expect(SocketTable.owner(of: peer, ports.0, connectedTo: own, ports.1) == .user(geteuid()))
            #expect(SocketTable.owner(of: peer, 1, connectedTo: own, ports.1) == .nobody)
        }
    }

    @Test func `a line of the list is read, and a strange list tells nothing`() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
        func line(_ user: String, _ inode: String) -> String {
            "   7: 0100007F:07E8 0100007F:E25A 01 00000000:00000000 02:00000346 00000000  \(user)        0 \(inode) 2 000000006d05"
        }
        func owner(_ text: String) -> SocketOwner.Answer {
            SocketTable.owner(in: text, of: "0100007F:07E8", connectedTo: "0100007F:E25A")
        }
        #expect(owner("\(head)\n\(line("1000", "78"))\n") == .user(1000))
        #expect(owner("\(head)\n\(line("0", "0"))\n") == .nobody)
        #expect(owner("\(head)\n") == .nobody)
        #expect(owner("\(head)\n\(line("-1", "78"))\n") == .unknown)
        #expect(owner("\(head)\n\(line("99999999999", "78"))\n") == .unknown)
        #expect(owner("") == .unknown && owner("root") == .unknown)
    }

    @Test func `an unknown or closed connection has no owner`() async throws {
        try await with("127.0.0.1") { client, here, there in
            let other = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
            #expect(SocketOwner.of(peer: other, connectedTo: there) == .nobody)
            try await client.close().get()
            // A process that another test is starting has a copy of the descriptor until it is a program.
            #expect(await eventually { SocketOwner.of(peer: here, connectedTo: there) == .nobody })
        }
    }

    @Test func `a malformed answer of the kernel gives an unknown owner`() {
        #expect(SocketOwner.answer([]) == .unknown)
        var generator = SeededGenerator(seed: 7)
        for length in 0..<200 {
            _ = SocketOwner.answer((0..<length).map { _ in .random(in: 0...255, using: &generator) }[...])
        }
    }

    private func system(_ name: String, _ change: (inout ClusterSettings) -> Void = { _ in }) -> ClusterSystem {
        var settings = ClusterSettings(name: name)
        settings.listen = .hostPort(host: "127.0.0.1", port: 0)
        settings.isLoopbackOnly = true
        change(&settings)
        return ClusterSystem(settings)
    }

    @Test func `without a key a process of another user is refused with a reason`() async throws {
        let (own, foreign, asker) = (system("own"), system("foreign") { $0.servedUsers = [4_000_000] }, system("asker"))
        try await own.start()
        try await foreign.start()
        try await asker.start()
        _ = try await asker.join(#require(own.listeningAddress))
        let failure = await #expect(throws: HandshakeFailure.self) {
            _ = try await asker.join(#require(foreign.listeningAddress))
        }
        guard case .refusedByPeer(let refusal)? = failure else {
            Issue.record("\(failure.map(String.init(describing:)) ?? "it was taken")")
            return
        }
        #expect(refusal.reason == .role && refusal.text.contains("own user only"))
        for system in [asker, own, foreign] { await system.shutdown() }
    }
}
