import CCrypto

/// A private key for ECDSA signatures on the curve P-256 (FIPS 186-4).
package final class SigningKey: Sendable {
    /// OpenSSL counts the users of a key and changes nothing of it that they see, so that all threads may use it.
    nonisolated(unsafe) let key: OpaquePointer

    private static let curve = "prime256v1"
    private static let scalarLength = 32

    /// A new key, unlike any other.
    package init() throws(CryptographyError) {
        OpenSSL.begin()
        guard let key = openssl_new_p256_key() else { throw CryptographyError("a private key cannot be made") }
        self.key = key
    }

    /// - Parameter pkcs8: the key as PKCS #8 in DER (RFC 5208), without a passphrase.
    /// - Throws: for everything that is not the private key of P-256 with the public key that belongs to it.
    package init(pkcs8: Secret) throws(CryptographyError) {
        OpenSSL.begin()
        let what = "a private key cannot be read"
        let info = try pkcs8.withUnsafeBytes { bytes throws(CryptographyError) in
            try Owned.reading(bytes, by: { d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1) }, PKCS8_PRIV_KEY_INFO_free, what)
        }
        let key = try Owned(EVP_PKCS82PKEY(info.pointer), EVP_PKEY_free, what)
        guard SigningKey.isOnCurve(key.pointer) else { throw CryptographyError(what, reason: "it is not of P-256") }
        // The file has the public key too, and OpenSSL would not notice that it belongs to another private key.
        let context = try Owned(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), EVP_PKEY_CTX_free, what)
        guard EVP_PKEY_check(context.pointer) == 1 else { throw CryptographyError(what) }
        EVP_PKEY_up_ref(key.pointer)
        self.key = key.pointer
    }

    /// The key that is a number.
    ///
    /// - Parameter scalar: 32 bytes, the most significant first.
    /// - Throws: where the number is 0, or not below the order of the curve's group.
    package convenience init(scalar: Secret) throws(CryptographyError) {
        // An ECPrivateKey (RFC 5915) without its public key, in a PrivateKeyInfo (RFC 5208) that names the curve.
        let head: [UInt8] = [
            0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
            0x2A,
            0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
        ]
        guard scalar.count == SigningKey.scalarLength else {
            throw CryptographyError("a private key cannot be read", reason: "it has another length")
        }
        try self.init(pkcs8: Secret(head + scalar.withUnsafeBytes { Array($0) }))
    }

    deinit { EVP_PKEY_free(key) }

    static func isOnCurve(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_is_a(key, "EC") == 1, EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else {
            ERR_clear_error()
            return false
        }
        return name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) == curve } ?? false }
    }

    /// The key itself: a number of 32 bytes, the most significant first.
    package var scalar: Secret {
        var number: OpaquePointer?
        let isThere = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1
        defer { BN_clear_free(number) }
        return Secret(count: SigningKey.scalarLength) { bytes in
            let start = bytes.bindMemory(to: UInt8.self).baseAddress
            let isWhole = isThere && BN_bn2binpad(number, start, Int32(bytes.count)) == bytes.count
            OpenSSL.check(isWhole, "a private key cannot be written")
        }
    }

    /// The key as PKCS #8 in DER (RFC 5208), without a passphrase.
    package var pkcs8: Secret {
        let info = EVP_PKEY2PKCS8(key)
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        let length = i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        OpenSSL.check(length > 0, "a private key cannot be written")
        return Secret(count: Int(length)) { bytes in
            var next = bytes.bindMemory(to: UInt8.self).baseAddress
            OpenSSL.check(i2d_PKCS8_PRIV_KEY_INFO(info, &next) == length, "a private key cannot be written")
        }
    }

    /// The public key: the point, uncompressed (SEC 1, 2.3.3).
    package var publicKey: [UInt8] {
        var point: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key, &point)
        defer { CRYPTO_free(point, #file, #line) }
        OpenSSL.check(count > 0, "a public key cannot be written")
        return Array(UnsafeBufferPointer(start: point, count: count))
    }
}
