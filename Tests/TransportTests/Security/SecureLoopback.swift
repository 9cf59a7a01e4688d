import Cryptography
import NIOCore
import NIOPosix
import NIOSSL

@testable import Transport

/// How one side of a connection under test sets up its pipeline.
typealias PipelineSetup = @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void

/// Real sockets on 127.0.0.1, with a connection each for one or more clients; closed after the test.
enum SecureLoopback {
    /// Connects one client, runs `body`.
    static func run(
        server: @escaping PipelineSetup, client: @escaping PipelineSetup,
        _ body: (_ server: SecureEnd, _ client: SecureEnd) async throws -> Void
    ) async throws {
        try await serve(server) { connect in
            let (server, client) = try await connect(client)
            try await body(server, client)
        }
    }

    /// Runs `body` with a function that connects one more client.
    static func serve(
        _ setup: @escaping PipelineSetup,
        _ body: ((@escaping PipelineSetup) async throws -> (SecureEnd, SecureEnd)) async throws -> Void
    ) async throws {
        let (ends, accepted) = AsyncStream.makeStream(of: SecureEnd.self)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                let end = SecureEnd()
                return SecureLoopback.initialize(channel, setup, end).map { accepted.yield(end) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        var incoming = ends.makeAsyncIterator()
        var open: [SecureEnd] = []
        func finish() async {
            for end in open { try? await end.channel.close() }
            try? await listener.close()
        }
        do {
            try await body { client in
                let end = SecureEnd()
                _ = try await ClientBootstrap(group: group)
                    .channelInitializer { SecureLoopback.initialize($0, client, end) }
                    .connect(to: listener.localAddress ?? SocketAddress(unixDomainSocketPath: "/")).get()
                guard let other = await incoming.next() else { throw ChannelError.eof }
                open += [end, other]
                return (other, end)
            }
        } catch {
            await finish()
            throw error
        }
        await finish()
    }

    private static func initialize(
        _ channel: any Channel, _ setup: PipelineSetup, _ end: SecureEnd
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try setup(channel.pipeline.syncOperations)
            try channel.pipeline.syncOperations.addHandler(end.handler())
        }
    }

    // MARK: - Sides

    static func secure(_ contexts: TLSContexts, isClient: Bool) -> PipelineSetup {
        // The whole suite may run at once on two cores, so that an event loop is kept waiting for seconds.
        { try contexts.install(in: $0, isClient: isClient, within: .seconds(50)) }
    }

    static let plain: PipelineSetup = { _ in }

    /// A client with a TLS set-up of its own that accepts any server.
    static func client(
        showing own: NodeCertificate? = nil, _ change: (inout TLSConfiguration) -> Void = { _ in }
    ) throws -> PipelineSetup {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let own {
            configuration.certificateChain = [
                .certificate(try NIOSSLCertificate(bytes: own.certificate.der, format: .der))
            ]
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: own.privateKey.pkcs8.withUnsafeBytes { Array($0) }, format: .der))
        }
        configuration.certificateVerification = .none
        configuration.applicationProtocols = [TLSContextPair.applicationProtocol]
        change(&configuration)
        let context = try NIOSSLContext(configuration: configuration)
        return { try $0.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil)) }
    }
}
