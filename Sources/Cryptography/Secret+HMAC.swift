import CCrypto

/// HMAC-SHA256 (RFC 2104) with the secret as key.
extension Secret {
    /// The 32 bytes by which whoever knows the secret recognises this message.
    package func authenticationCode(for message: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.length) { code, count in
            let made = withUnsafeBytes { key in
                HMAC(
                    OpenSSL.sha256, key.baseAddress, Int32(key.count), message.bindMemory(to: UInt8.self).baseAddress,
                    message.count, code.baseAddress, nil)
            }
            OpenSSL.check(made != nil, "an HMAC cannot be computed")
            count = SHA256.length
        }
    }

    /// Whether `code` was made from this message by somebody who knows the secret.
    package func isAuthentic(_ code: UnsafeRawBufferPointer, for message: UnsafeRawBufferPointer) -> Bool {
        authenticationCode(for: message).withUnsafeBytes { Secret.areEqual($0, code) }
    }
}
