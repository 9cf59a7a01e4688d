import Base
import FoundationEssentials
import NIOSSL

/// Turns NIOSSL's errors into the operator's words.
extension TLSFailure {
    /// - Parameters:
    ///   - peer: the certificate that the peer showed, if the handshake came so far.
    ///   - now: the time that its validity is compared with, as BoringSSL did.
    init(_ error: any Error, peer: NIOSSLCertificate?, now: Date) {
        switch error {
        case let failure as TLSFailure: self = failure
        case NIOSSLError.uncleanShutdown: self = .cutOff
        case NIOSSLError.handshakeFailed(let error): self.init(error, peer, now)
        case let error as BoringSSLError: self.init(error, peer, now)
        default: self = .other(PrintableText.of(String(describing: error)))
        }
    }

    private init(_ error: BoringSSLError, _ peer: NIOSSLCertificate?, _ now: Date) {
        let stack: NIOBoringSSLErrorStack
        switch error {
        case .sslError(let errors), .unknownError(let errors): stack = errors
        case .syscallError, .zeroReturn:
            self = .closedDuringHandshake
            return
        default:
            self = .other(String(describing: error))
            return
        }
        if stack.contains(.eofDuringHandshake) {
            self = .closedDuringHandshake
            return
        }
        // BoringSSL's reasons can be recognised by their names only: NIOSSL keeps the numbers to itself.
        let text = stack.map(\.description).joined(separator: " ")
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            self = TLSFailure.verdict(on: peer, now)
        } else if let (_, failure) = TLSFailure.reasons.first(where: { text.contains($0.0) }) {
            self = failure
        } else {
            self = .other(
                PrintableText.of(stack.first.map { TLSFailure.reasonName($0.description) } ?? "unknown error"))
        }
    }

    /// The reasons with `TLSV1_ALERT_...` and `SSLV3_ALERT_...` are what the peer said; the others were found here.
    private static let reasons: [(String, TLSFailure)] = [
        ("ALERT_UNKNOWN_CA", .notTrustedByPeer),
        // The signature of a certificate does not fit: there is an authority of the same name with another key.
        ("ALERT_DECRYPT_ERROR", .notTrustedByPeer),
        ("ALERT_CERTIFICATE_EXPIRED", .outOfDateForPeer),
        ("ALERT_BAD_CERTIFICATE", .badCertificateForPeer),
        ("ALERT_CERTIFICATE_UNKNOWN", .badCertificateForPeer),
        ("ALERT_CERTIFICATE_REVOKED", .badCertificateForPeer),
        ("ALERT_UNSUPPORTED_CERTIFICATE", .badCertificateForPeer),
        ("PEER_DID_NOT_RETURN_A_CERTIFICATE", .noCertificate),
        ("UNSUPPORTED_PROTOCOL", .oldVersion),
        ("ALERT_PROTOCOL_VERSION", .oldVersion),
        ("NO_APPLICATION_PROTOCOL", .otherApplication),
        ("HTTP_REQUEST", .notTLS(.http)),
        ("WRONG_VERSION_NUMBER", .notTLS(.unknown)),
        // A node of ours sends this to a peer that begins without TLS; others send it after a hello that they cannot agree with.
        ("ALERT_HANDSHAKE_FAILURE", .oldVersion),
    ]

    /// Why a certificate failed: BoringSSL says only that it did.
    private static func verdict(on peer: NIOSSLCertificate?, _ now: Date) -> TLSFailure {
        guard let peer else { return .otherAuthority }
        if now >= peer.validUntil { return .expired(peer.validUntil) }
        if now < peer.validFrom { return .notYetValid(peer.validFrom) }
        return .otherAuthority
    }

    /// The last part of "Error: 268435703 error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at ...".
    private static func reasonName(_ text: String) -> String {
        let words = text.split(separator: " at ")[0].split(separator: ":")
        return words.last.map { $0.replacing("_", with: " ").lowercased() } ?? text
    }
}
