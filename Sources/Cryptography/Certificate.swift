import CCrypto
package import FoundationEssentials
import Glibc

/// A certificate (X.509, RFC 5280). That it can be read says nothing of whether it is to be trusted.
package final class Certificate: Sendable {
    /// OpenSSL guards what it computes of a certificate at its first use, so that all threads may use it.
    nonisolated(unsafe) let certificate: OpaquePointer
    /// The certificate as DER.
    package let der: [UInt8]
    /// The first moment at which it is valid.
    package let notBefore: Date
    /// The last moment at which it is valid.
    package let notAfter: Date

    /// - Throws: for bytes that are not one certificate, and nothing else.
    package convenience init(der: [UInt8]) throws(CryptographyError) {
        OpenSSL.begin()
        let certificate = try der.span.bytes.withUnsafeBytes { bytes throws(CryptographyError) in
            try Owned.reading(bytes, by: { d2i_X509(nil, $0, $1) }, X509_free, "a certificate cannot be read")
        }
        try self.init(certificate, der: der)
    }

    /// - Parameter der: the certificate's bytes.
    init(_ certificate: borrowing Owned, der: [UInt8]) throws(CryptographyError) {
        guard let notBefore = Certificate.date(X509_get0_notBefore(certificate.pointer)),
            let notAfter = Certificate.date(X509_get0_notAfter(certificate.pointer))
        else { throw CryptographyError("a certificate cannot be read", reason: "its times are none") }
        (self.der, self.notBefore, self.notAfter) = (der, notBefore, notAfter)
        X509_up_ref(certificate.pointer)
        self.certificate = certificate.pointer
    }

    deinit { X509_free(certificate) }

    private static func date(_ time: UnsafePointer<ASN1_TIME>?) -> Date? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else {
            ERR_clear_error()
            return nil
        }
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }
}

extension Certificate: Equatable {
    package static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }
}
