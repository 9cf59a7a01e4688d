/// What the other side speaks, guessed from the first bytes that it sent. It serves to tell the operator what is the matter; nobody
/// is allowed or refused anything because of `skynet` or `http`.
package enum PeerProtocol: Hashable, Sendable {
    case tls
    case http
    /// Frames of this program without TLS.
    case skynet
    case unknown

    /// How many bytes are looked at; the first alone tells TLS from the rest.
    package static let length = 8

    package init(firstBytes bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(PeerProtocol.length))
        switch start.first {
        // These are the content types of TLS records (RFC 8446, 5.1). A connection begins with a handshake or an alert.
        case 20, 21, 22, 23: self = .tls
        // A frame begins with its length in four bytes, and none is as long as 16 MiB.
        case 0: self = .skynet
        default:
            let methods = ["GET ", "POST ", "HEAD ", "PUT ", "OPTIONS ", "CONNECT ", "DELETE ", "HTTP/", "PRI * "]
            self = methods.contains { start.starts(with: $0.utf8.prefix(PeerProtocol.length)) } ? .http : .unknown
        }
    }

    /// For a side without TLS, which took these bytes for a frame: what the bytes really are; `nil` where that is not known.
    package var adviceWithoutTLS: String? {
        switch self {
        case .tls: "the other side speaks TLS; start this one with the cluster's key too (--cluster-key FILE)"
        case .http: "the other side speaks HTTP; this port is for SkyNet nodes"
        case .skynet, .unknown: nil
        }
    }
}
