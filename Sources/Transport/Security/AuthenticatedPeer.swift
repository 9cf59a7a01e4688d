/// The user event that tells the handlers of a connection whom it leads to, before it becomes active for them.
package struct AuthenticatedPeer: Sendable {
    /// `nil` where the certificate names no node, as that of an own PKI.
    package let identity: PeerIdentity?
}
