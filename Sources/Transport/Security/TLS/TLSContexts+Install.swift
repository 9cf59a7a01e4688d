package import NIOCore
import NIOSSL

extension TLSContexts {
    /// Puts TLS into a pipeline: handlers added afterwards see plaintext.
    ///
    /// To be called on the channel's event loop from its initializer, before it is active. The handlers after see, in
    /// this order: the user event `AuthenticatedPeer`, `channelActive`, what the peer sends. Or: `errorCaught` with a
    /// `TLSFailure`, `channelInactive`. Writes before `channelActive` wait.
    ///
    /// - Parameter limit: time for the whole handshake.
    package func install(
        in pipeline: ChannelPipeline.SynchronousOperations, isClient: Bool, within limit: TimeAmount? = nil
    ) throws {
        let guardian = PreAuthenticationGuard(isClient: isClient)
        // Without a server name: what a node was dialled by is nobody's business on the wire.
        let tls: NIOSSLHandler =
            isClient
            ? try NIOSSLClientHandler(context: client, serverHostname: nil) : NIOSSLServerHandler(context: server)
        let gate = TLSGate(
            tls: tls, guardian: guardian, requiresIdentity: requiresIdentity, limit: limit ?? TLSGate.handshakeLimit)
        try pipeline.addHandlers([guardian, tls, gate])
    }
}
