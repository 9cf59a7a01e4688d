import CCrypto

extension SigningKey {
    /// A signature of the message: ECDSA over its SHA-256 (FIPS 186-4), as DER. Each is another one.
    package func signature(of message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        let isReady =
            EVP_DigestSignInit(context, nil, OpenSSL.sha256, nil, key) == 1
            && EVP_DigestSign(context, nil, &length, message, message.count) == 1
        OpenSSL.check(isReady, "a message cannot be signed")
        // The length is the longest that there is; most signatures are shorter by a byte or two.
        return [UInt8](unsafeUninitializedCapacity: length) { bytes, count in
            let isSigned = EVP_DigestSign(context, bytes.baseAddress, &length, message, message.count) == 1
            OpenSSL.check(isSigned, "a message cannot be signed")
            count = length
        }
    }

    /// The public key, for those who check signatures.
    package var verifier: SignatureVerifier {
        EVP_PKEY_up_ref(key)
        return SignatureVerifier(key)
    }
}

/// The public half of a `SigningKey`.
package final class SignatureVerifier: Sendable {
    /// OpenSSL counts the users of a key and changes nothing of it that they see, so that all threads may use it.
    nonisolated(unsafe) private let key: OpaquePointer

    /// Becomes the owner of the key.
    init(_ key: OpaquePointer) { self.key = key }

    /// - Parameter der: the key as SubjectPublicKeyInfo (RFC 5280, 4.1).
    /// - Throws: for everything that is not one public key of P-256, and nothing else.
    package init(der: [UInt8]) throws(CryptographyError) {
        OpenSSL.begin()
        let what = "a public key cannot be read"
        let read = try der.span.bytes.withUnsafeBytes { bytes throws(CryptographyError) in
            try Owned.reading(bytes, by: { d2i_PUBKEY(nil, $0, $1) }, EVP_PKEY_free, what)
        }
        guard SigningKey.isOnCurve(read.pointer) else { throw CryptographyError(what, reason: "it is not of P-256") }
        EVP_PKEY_up_ref(read.pointer)
        key = read.pointer
    }

    deinit { EVP_PKEY_free(key) }

    /// The key as SubjectPublicKeyInfo.
    package var der: [UInt8] {
        let length = i2d_PUBKEY(key, nil)
        OpenSSL.check(length > 0, "a public key cannot be written")
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { bytes, count in
            var next = bytes.baseAddress
            OpenSSL.check(i2d_PUBKEY(key, &next) == length, "a public key cannot be written")
            count = Int(length)
        }
    }

    /// Whether the key's owner has signed the message.
    package func isAuthentic(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, OpenSSL.sha256, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}

extension Certificate {
    /// The public key that the certificate is about.
    package var verifier: SignatureVerifier? {
        guard let key = X509_get0_pubkey(certificate) else { return nil }
        EVP_PKEY_up_ref(key)
        return SignatureVerifier(key)
    }
}
