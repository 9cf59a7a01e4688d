/// The user event that tells the handlers of a connection who the peer is, before the connection becomes active for them.
package struct AuthenticatedPeer: Sendable {
    /// `nil` where the certificate names no node, as with certificates of an own PKI.
    package let identity: PeerIdentity?
}
