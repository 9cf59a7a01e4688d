package import FoundationEssentials

/// Why a connection did not become a secure one, or ceased to be: one line for the operator, with what to do.
package enum TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The peer's certificate was issued by an authority that is not trusted here.
    case otherAuthority
    /// The peer says the same about this node's certificate.
    case notTrustedByPeer
    case expired(Date)
    case notYetValid(Date)
    /// The peer says that this node's certificate is one or the other.
    case outOfDateForPeer
    case noCertificate
    /// The peer's certificate is not allowed for this use, or revoked, or damaged.
    case badCertificate
    /// The peer says so about this node's certificate.
    case badCertificateForPeer
    /// Under a cluster key every certificate names its node.
    case noIdentity
    case notTLS(PeerProtocol)
    /// The peer speaks TLS, but no version that is spoken here: it is older than 1.3.
    case oldVersion
    /// The peer speaks TLS 1.3, but something else inside.
    case otherApplication
    case tooMuchUnauthenticated
    case timedOut
    case closedDuringHandshake
    /// The connection ended without TLS's farewell: the peer's process died, or the network did.
    case cutOff
    case other(String)

    package var description: String {
        switch self {
        case .otherAuthority:
            "the other side has another cluster key (or a certificate of another authority); copy one key file to both"
        case .notTrustedByPeer:
            "the other side does not accept this node's cluster key; copy one key file to both"
        case .expired(let date):
            "the other side's certificate expired on \(DayText.of(date)); check the clocks of both machines"
        case .notYetValid(let date):
            "the other side's certificate is valid from \(DayText.of(date)) only; check the clocks of both machines"
        case .outOfDateForPeer:
            "the other side takes this node's certificate for expired or not yet valid; check the clocks of both machines"
        case .noCertificate: "the other side showed no certificate; start it with the cluster's key"
        case .badCertificate: "the other side's certificate is damaged or not meant for this use"
        case .badCertificateForPeer: "the other side finds this node's certificate damaged or not meant for this use"
        case .noIdentity: "the other side's certificate is of this cluster but names no node"
        case .notTLS(.skynet):
            "the other side speaks without TLS, so it was started without a key; start it with the cluster's key"
        case .notTLS(.http): "the other side speaks HTTP; this port is for SkyNet nodes"
        case .notTLS: "the other side does not speak TLS; is it a SkyNet node with a key?"
        case .oldVersion: "the other side does not speak TLS 1.3; is it a SkyNet node?"
        case .otherApplication: "the other side speaks something else inside TLS; is it a SkyNet node of this version?"
        case .tooMuchUnauthenticated:
            "more than \(PreAuthenticationGuard.limit) bytes before the other side had shown who it is"
        case .timedOut: "the TLS handshake was not done in time"
        case .closedDuringHandshake:
            "the other side closed the connection in the TLS handshake; was it started with the cluster's key?"
        case .cutOff: "the connection was cut off"
        case .other(let text): "TLS: \(text)"
        }
    }
}
