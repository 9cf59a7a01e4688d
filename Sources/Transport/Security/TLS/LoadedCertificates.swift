import Base
import FoundationEssentials
import NIOSSL

/// The files of an own PKI, read and checked.
struct LoadedCertificates {
    /// The certificates, with this node's first.
    let chain: [NIOSSLCertificate]
    let privateKey: NIOSSLPrivateKey
    let trustRoots: [NIOSSLCertificate]

    init(_ files: CertificateFiles, now: Date) throws(SecurityError) {
        chain = try LoadedCertificates.certificates(in: files.certificate)
        trustRoots = try LoadedCertificates.certificates(in: files.trustRoots)
        let (text, exposure) = try SecretFile.examine(files.privateKey, .secret)
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(text.utf8), format: .pem)
        } catch {
            throw SecurityError(
                "\(PrintableText.of(files.privateKey)): no private key in PEM form that can be read without a passphrase"
            )
        }
        if let exposure { throw exposure }
        let shown = PrintableText.of(files.certificate)
        for certificate in chain {
            guard now < certificate.validUntil else {
                throw SecurityError(
                    "\(shown): the certificate expired on \(DayText.of(certificate.validUntil)); put a new one there")
            }
            guard now >= certificate.validFrom else {
                throw SecurityError(
                    "\(shown): the certificate is valid from \(DayText.of(certificate.validFrom)) only, and this "
                        + "machine's clock says \(DayText.of(now))")
            }
        }
    }

    private static func certificates(in path: String) throws(SecurityError) -> [NIOSSLCertificate] {
        let text = try SecretFile.read(path, .certificates)
        let found: [NIOSSLCertificate]
        do {
            found = try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
        } catch {
            found = []
        }
        guard !found.isEmpty else {
            throw SecurityError("\(PrintableText.of(path)): no certificates in PEM form, or damaged ones")
        }
        return found
    }
}
