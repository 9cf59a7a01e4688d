package import FoundationEssentials
import NIOConcurrencyHelpers
import NIOSSL

/// The contexts from which TLS connections are made: one for dialling and one for being dialled. They are replaced as certificates
/// are renewed. Connections that exist keep the context that they were made with.
///
/// They may be used from any thread. Contexts are made here once and not per connection, because that costs a millisecond and file
/// access, and connections are made on event loops.
package final class TLSContexts: Sendable {
    private let security: TransportSecurity
    private let node: NodeID
    private let current: NIOLockedValueBox<TLSContextPair>

    /// How soon a renewal that failed is tried again; also how often the files of an own PKI are read.
    package static let retryPause: TimeInterval = 3600

    /// The result is `nil` where there is no TLS.
    ///
    /// - Throws: `SecurityError` where the key or the files are of no use.
    package init?(_ security: TransportSecurity, node: NodeID, now: Date) throws(SecurityError) {
        guard security.isOn, let pair = try TLSContextPair(security, node: node, now: now) else {
            return nil
        }
        self.security = security
        self.node = node
        current = NIOLockedValueBox(pair)
    }

    var client: NIOSSLContext { current.withLockedValue { $0.client } }
    var server: NIOSSLContext { current.withLockedValue { $0.server } }

    /// Whether a peer's certificate must say who it is, as those under a cluster key do.
    var requiresIdentity: Bool {
        switch security {
        case .clusterKey, .credential: true
        case .certificates, .none: false
        }
    }

    /// Until when peers accept this node's certificate.
    package var validUntil: Date { current.withLockedValue { $0.notAfter } }

    /// When `renewIfDue` does something next.
    package var renewalDue: Date { current.withLockedValue { $0.renewalDue } }

    /// Replaces the certificate if it is time; call it every few minutes. It blocks for files and a millisecond of arithmetic, so
    /// do not call it on an event loop.
    ///
    /// - Returns: whether there is a new certificate.
    /// - Throws: `SecurityError` where there is no new certificate though there should be one. The old one stays in use, and the
    ///   next attempt is due after `retryPause`.
    package func renewIfDue(now: Date) throws(SecurityError) -> Bool {
        guard current.withLockedValue({ now >= $0.renewalDue || now < $0.notBefore }) else { return false }
        return try renew(now: now)
    }

    /// Replaces the certificate now; see `renewIfDue`.
    package func renew(now: Date) throws(SecurityError) -> Bool {
        do throws(SecurityError) {
            guard let pair = try TLSContextPair(security, node: node, now: now) else { return false }
            return current.withLockedValue { old in
                let isNew = pair.certificateBytes != old.certificateBytes
                old = pair
                return isNew
            }
        } catch {
            current.withLockedValue { $0.renewalDue = now + TLSContexts.retryPause }
            throw error
        }
    }
}
