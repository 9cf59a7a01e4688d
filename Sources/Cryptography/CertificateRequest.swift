import CCrypto
package import FoundationEssentials

/// What a new certificate is to say.
package struct CertificateRequest: Sendable {
    /// The common names of its subject.
    package var commonNames: [String]
    package var notBefore: Date
    package var notAfter: Date
    package var extensions: [CertificateExtension]

    package init(commonNames: [String], notBefore: Date, notAfter: Date, extensions: [CertificateExtension]) {
        (self.commonNames, self.notBefore, self.notAfter) = (commonNames, notBefore, notAfter)
        self.extensions = extensions
    }

    /// The number of a certificate, in bits: as many as RFC 5280 (4.1.2.2) allows, so that no two are equal by chance.
    private static let serialNumberBits: Int32 = 159

    /// The certificate of `key`.
    ///
    /// - Parameters:
    ///   - issuer: who signs it; `nil` if it signs itself.
    /// - Throws: where a name is too long or a time or an extension is none.
    package func issued(
        to key: SigningKey, by issuer: (certificate: Certificate, key: SigningKey)? = nil
    ) throws(CryptographyError) -> Certificate {
        let new = try Owned(X509_new(), X509_free, Self.what)
        let certificate = new.pointer
        // The numbers of the versions begin with 0.
        try checked(X509_set_version(certificate, Int(X509_VERSION_3)))
        try number(certificate)
        try checked(X509_set_pubkey(certificate, key.key))
        try set(X509_getm_notBefore(certificate), notBefore)
        try set(X509_getm_notAfter(certificate), notAfter)
        try name(certificate)
        let signer = issuer?.certificate.certificate ?? certificate
        try checked(X509_set_issuer_name(certificate, X509_get_subject_name(signer)))
        for part in extensions { try add(part, to: certificate, signer: signer) }
        // The result is the number of bytes of the signature.
        guard X509_sign(certificate, (issuer?.key ?? key).key, OpenSSL.sha256) > 0 else { throw failure() }
        let length = i2d_X509(certificate, nil)
        guard length > 0 else { throw failure() }
        var der = [UInt8](repeating: 0, count: Int(length))
        let written = der.withUnsafeMutableBufferPointer { bytes in
            var next = bytes.baseAddress
            return i2d_X509(certificate, &next)
        }
        guard written == length else { throw failure() }
        return try Certificate(new, der: der)
    }

    /// What fails.
    private static let what = "a certificate cannot be made"

    private func failure() -> CryptographyError { CryptographyError(Self.what) }

    private func checked(_ result: Int32) throws(CryptographyError) {
        guard result == 1 else { throw failure() }
    }

    private func number(_ certificate: OpaquePointer) throws(CryptographyError) {
        let number = try Owned(BN_new(), BN_free, Self.what)
        // The top bit is set: the number has the same length in all certificates.
        try checked(BN_rand(number.pointer, CertificateRequest.serialNumberBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY))
        guard BN_to_ASN1_INTEGER(number.pointer, X509_get_serialNumber(certificate)) != nil else { throw failure() }
    }

    private func set(_ time: UnsafeMutablePointer<ASN1_TIME>?, _ date: Date) throws(CryptographyError) {
        guard let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)), ASN1_TIME_set(time, seconds) != nil
        else { throw failure() }
    }

    private func name(_ certificate: OpaquePointer) throws(CryptographyError) {
        let name = X509_get_subject_name(certificate)
        for common in commonNames {
            let text = Array(common.utf8)
            try checked(
                X509_NAME_add_entry_by_NID(name, NID_commonName, V_ASN1_UTF8STRING, text, Int32(text.count), -1, 0))
        }
    }

    private func add(
        _ part: CertificateExtension, to certificate: OpaquePointer, signer: OpaquePointer
    ) throws(CryptographyError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, signer, certificate, nil, nil, 0)
        let made = try Owned(
            X509V3_EXT_nconf_nid(nil, &context, part.kind.number, part.value), X509_EXTENSION_free,
            Self.what)
        try checked(X509_add_ext(certificate, made.pointer, -1))
    }
}
