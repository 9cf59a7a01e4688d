import Base
import FoundationEssentials
import NIOCore
import NIOSSL

/// The two contexts of one certificate.
struct TLSContextPair: Sendable {
    let client: NIOSSLContext
    let server: NIOSSLContext
    /// The certificate's validity.
    let notBefore: Date
    let notAfter: Date
    var renewalDue: Date
    /// The certificate as DER. It tells a new certificate from the old one.
    let certificateBytes: [UInt8]

    /// The name of the protocol inside, for ALPN (RFC 7301). By it, a server of something else that has a certificate of the same
    /// PKI is recognised before the first frame. Its number is not the protocol's version, which the hellos settle inside.
    static let applicationProtocol = "skynet/2"

    /// The result is `nil` where there is no TLS.
    init?(_ security: TransportSecurity, node: NodeID, now: Date) throws(SecurityError) {
        switch security {
        case .none:
            return nil
        case .clusterKey(let key, let others):
            let own = try NodeCertificate(issuedBy: key, node: node, now: now)
            do {
                try self.init(
                    chain: [NIOSSLCertificate(bytes: own.certificate.der, format: .der)],
                    privateKey: NIOSSLPrivateKey(
                        bytes: own.privateKey.pkcs8.withUnsafeBytes { Array($0) }, format: .der),
                    trustRoots: ([key] + others).map {
                        try NIOSSLCertificate(bytes: $0.certificate.der, format: .der)
                    },
                    renewalDue: own.renewalDue)
            } catch {
                throw SecurityError("TLS could not be set up: \(PrintableText.of(String(describing: error)))")
            }
        case .credential(let credential):
            try credential.checkTime(now)
            do {
                try self.init(
                    chain: [NIOSSLCertificate(bytes: credential.certificate.der, format: .der)],
                    privateKey: NIOSSLPrivateKey(
                        bytes: credential.privateKey.pkcs8.withUnsafeBytes { Array($0) }, format: .der),
                    trustRoots: [NIOSSLCertificate(bytes: credential.authority.der, format: .der)],
                    // No command lives so long that it needs another one.
                    renewalDue: .distantFuture)
            } catch {
                throw SecurityError("TLS could not be set up: \(PrintableText.of(String(describing: error)))")
            }
        case .certificates(let files):
            let loaded = try LoadedCertificates(files, now: now)
            do {
                try self.init(
                    chain: loaded.chain, privateKey: loaded.privateKey, trustRoots: loaded.trustRoots,
                    renewalDue: now + TLSContexts.retryPause)
            } catch {
                // The parts could be read, so an error here means that they do not fit together.
                throw SecurityError(
                    "\(PrintableText.of(files.privateKey)): not the private key of the certificate in "
                        + PrintableText.of(files.certificate))
            }
        }
    }

    private init(
        chain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey, trustRoots: [NIOSSLCertificate], renewalDue: Date
    ) throws {
        var server = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey),
            trustRoots: .certificates(trustRoots))
        server.harden()
        var client = TLSConfiguration.makeClientConfiguration()
        client.certificateChain = chain.map { .certificate($0) }
        client.privateKey = .privateKey(privateKey)
        client.trustRoots = .certificates(trustRoots)
        client.harden()
        self.client = try NIOSSLContext(configuration: client)
        self.server = try NIOSSLContext(configuration: server)
        self.renewalDue = renewalDue
        notBefore = chain.map(\.validFrom).max() ?? .distantPast
        notAfter = chain.map(\.validUntil).min() ?? .distantFuture
        certificateBytes = try chain.flatMap { try $0.toDERBytes() }
    }
}

extension TLSConfiguration {
    /// The settings that both sides of a link have in common.
    fileprivate mutating func harden() {
        minimumTLSVersion = .tlsv13
        maximumTLSVersion = .tlsv13
        // A node's identity is in its certificate; the name or address under which it was dialled says nothing. The chain is
        // verified, and a peer without a certificate is refused, on both sides.
        certificateVerification = .noHostnameVerification
        applicationProtocols = [TLSContextPair.applicationProtocol]
        // A peer that has gone does not answer a farewell; a LAN needs milliseconds for it.
        shutdownTimeout = .seconds(1)
    }
}

extension NIOSSLCertificate {
    var validFrom: Date { Date(timeIntervalSince1970: TimeInterval(notValidBefore)) }
    var validUntil: Date { Date(timeIntervalSince1970: TimeInterval(notValidAfter)) }
}
