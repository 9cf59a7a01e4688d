import CCrypto

/// A SHA-256 (FIPS 180-4) of bytes that come in parts.
///
///     var hash = SHA256()
///     hash.update(head)
///     hash.update(body)
///     let digest = hash.finalize()
package struct SHA256: ~Copyable {
    /// The number of bytes of a digest.
    package static let length = 32

    private let context: OpaquePointer

    package init() {
        let algorithm = OpenSSL.sha256
        guard let context = EVP_MD_CTX_new() else { fatalError("a SHA-256 cannot be begun") }
        OpenSSL.check(EVP_DigestInit_ex(context, algorithm, nil) == 1, "a SHA-256 cannot be begun")
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        OpenSSL.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "a SHA-256 cannot go on")
    }

    package mutating func update(_ bytes: [UInt8]) { update(bytes[...]) }

    package mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digest of all bytes.
    package consuming func finalize() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: SHA256.length) { digest, count in
            OpenSSL.check(EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1, "a SHA-256 cannot be ended")
            count = SHA256.length
        }
    }

    /// The digest of these bytes.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }
}
