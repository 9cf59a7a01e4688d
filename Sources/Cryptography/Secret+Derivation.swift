import CCrypto

extension Secret {
    /// Another secret, which does not give this one away, by HKDF with SHA-256 and without salt (RFC 5869).
    ///
    /// - Parameters:
    ///   - label: makes each derived secret different; the RFC's `info`.
    ///   - length: the number of bytes, at most 8,160.
    package func derived(_ label: String, length: Int) -> Secret {
        OpenSSL.begin()
        let label = Array(label.utf8)
        return Secret(count: length) { derived in
            guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { fatalError("OpenSSL has no HKDF") }
            defer { EVP_PKEY_CTX_free(context) }
            var count = length
            let isDone = withUnsafeBytes { key in
                EVP_PKEY_derive_init(context) > 0
                    && EVP_PKEY_CTX_set_hkdf_md(context, OpenSSL.sha256) > 0
                    && EVP_PKEY_CTX_set1_hkdf_key(
                        context, key.bindMemory(to: UInt8.self).baseAddress, Int32(key.count)) > 0
                    && EVP_PKEY_CTX_add1_hkdf_info(context, label, Int32(label.count)) > 0
                    && EVP_PKEY_derive(context, derived.bindMemory(to: UInt8.self).baseAddress, &count) > 0
            }
            OpenSSL.check(isDone && count == length, "a secret cannot be derived")
        }
    }
}
