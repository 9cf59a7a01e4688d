package import FoundationEssentials
package import NIOCore
import NIOSSL

extension TLSContexts {
    /// Puts TLS into a pipeline: handlers added afterwards see plaintext.
    ///
    /// Call it on the channel's event loop from its initializer, before the channel is active. The handlers added afterwards see,
    /// in this order: the user event `AuthenticatedPeer`, `channelActive`, and the bytes that the peer sends. Or they see
    /// `errorCaught` with a `TLSFailure`, and then `channelInactive`. Writes before `channelActive` wait.
    ///
    /// - Parameters:
    ///   - isCommand: whether this is no node. A command is not frozen for a while and then goes on, and must not take a node without a
    ///     key for one that is slow.
    ///   - limit: time for the whole handshake.
    ///   - now: what this machine's clock says.
    /// - Throws: `TLSFailure` where the clock is before 1970, or an error of the pipeline.
    package func install(
        in pipeline: ChannelPipeline.SynchronousOperations, isClient: Bool, isCommand: Bool = false,
        within limit: TimeAmount? = nil, now: Date = .now
    ) throws {
        // BoringSSL ends the process at such a time (ssl_lib.cc, ssl_get_current_time).
        guard now.timeIntervalSince1970 >= 0 else {
            throw TLSFailure.other("this machine's clock says a time before 1970; set the clock")
        }
        let guardian = PreAuthenticationGuard(isClient: isClient)
        // There is no server name: the name by which a node was dialled concerns nobody on the wire.
        let tls: NIOSSLHandler =
            isClient
            ? try NIOSSLClientHandler(context: client, serverHostname: nil) : NIOSSLServerHandler(context: server)
        let gate = TLSGate(
            tls: tls, guardian: guardian, requiresIdentity: requiresIdentity, isCommand: isCommand,
            limit: limit ?? TLSGate.handshakeLimit)
        try pipeline.addHandlers([guardian, tls, gate])
    }
}
