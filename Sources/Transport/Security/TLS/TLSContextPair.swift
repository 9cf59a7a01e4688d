import Base
import Crypto
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
    /// The certificate as DER: tells a new one from the old.
    let certificateBytes: [UInt8]

    /// What is spoken inside, for ALPN (RFC 7301): a server of something else that has a certificate of the same PKI is
    /// told apart before the first frame. Its number is not the protocol's version, which the hellos settle inside.
    static let applicationProtocol = "skynet/2"

    /// `nil` where there is no TLS.
    init?(_ security: TransportSecurity, node: NodeID, now: Date) throws(SecurityError) {
        switch security {
        case .none:
            return nil
        case .clusterKey(let key, let others):
            let own = try NodeCertificate(issuedBy: key, node: node, now: now)
            do {
                try self.init(
                    chain: [NIOSSLCertificate(bytes: own.derBytes(), format: .der)],
                    privateKey: NIOSSLPrivateKey(bytes: Array(own.privateKey.derRepresentation), format: .der),
                    trustRoots: ([key] + others).map {
                        try NIOSSLCertificate(bytes: $0.certificateBytes, format: .der)
                    },
                    renewalDue: own.renewalDue)
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
                // The parts were read, so what fails here is their fitting together.
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
    /// What both sides of a link have in common.
    fileprivate mutating func harden() {
        minimumTLSVersion = .tlsv13
        maximumTLSVersion = .tlsv13
        // Who a node is stands in its certificate; under which name or address it was dialled says nothing. The chain is
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
