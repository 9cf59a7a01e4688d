import CCrypto

/// What a certificate says of itself.
extension Certificate {
    /// Whether it was made to issue others, and signed by itself.
    package var isRootAuthority: Bool {
        defer { ERR_clear_error() }
        return X509_get_extension_flags(certificate) & UInt32(EXFLAG_CA) != 0 && X509_self_signed(certificate, 1) == 1
    }

    /// Whether this is the certificate of that key.
    package func belongs(to key: SigningKey) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(certificate, key.key) == 1
    }

    /// Whether the certificate was signed with the key of that one.
    package func isSigned(by issuer: Certificate) -> Bool {
        defer { ERR_clear_error() }
        guard let key = X509_get0_pubkey(issuer.certificate) else { return false }
        return X509_verify(certificate, key) == 1
    }

    /// The URIs among the names of its subject; none where these names cannot be read.
    package var uris: [String] {
        defer { ERR_clear_error() }
        // Where there are two such extensions, nothing is returned either.
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        return (0..<OPENSSL_sk_num(names)).compactMap { index in
            var type: Int32 = 0
            guard
                let name = OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                let value = GENERAL_NAME_get0_value(name, &type), type == GEN_URI
            else { return nil }
            return Certificate.text(value.assumingMemoryBound(to: ASN1_STRING.self))
        }
    }

    /// The common names of the subject.
    package var commonNames: [String] {
        let subject = X509_get_subject_name(certificate)
        var (names, position): ([String], Int32) = ([], -1)
        while true {
            position = X509_NAME_get_index_by_NID(subject, NID_commonName, position)
            guard position >= 0 else { return names }
            guard let value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, position)) else { continue }
            names.append(Certificate.text(value))
        }
    }

    /// The text of an extension, as `openssl x509 -text` shows it; `nil` where the certificate has none of the kind.
    package func text(of kind: CertificateExtension.Kind) -> String? {
        defer { ERR_clear_error() }
        let position = X509_get_ext_by_NID(certificate, kind.number, -1)
        guard position >= 0, let memory = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(memory) }
        guard X509V3_EXT_print(memory, X509_get_ext(certificate, position), 0, 0) == 1 else { return nil }
        return String(decoding: PEMDocument.contents(of: memory), as: UTF8.self)
    }

    /// The number under which the issuer knows it, most significant byte first.
    package var serialNumber: [UInt8] {
        guard let number = X509_get0_serialNumber(certificate), let start = ASN1_STRING_get0_data(number) else {
            return []
        }
        return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(number))))
    }

    /// Bytes that are not UTF-8 become replacement characters, which no name of ours has.
    private static func text(_ string: UnsafePointer<ASN1_STRING>) -> String {
        String(
            decoding: UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))),
            as: UTF8.self)
    }
}
