import CCrypto

/// Bytes that nobody else may know. They are erased when the last user lets go of them, never printed, and compared in a
/// time that does not depend on them.
package final class Secret: Sendable {
    /// Nobody writes to the memory once it is filled, so that all threads may read it.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    package var count: Int { bytes.count }

    package convenience init(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// - Parameter fill: writes all the bytes, which are zero before.
    init<Failure>(
        count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        bytes = .allocate(byteCount: count, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(bytes)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }

    package func withUnsafeBytes<Result: ~Copyable, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }
}

extension Secret: Equatable {
    package static func == (left: Secret, right: Secret) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { Secret.areEqual(left, $0) } }
    }

    /// Compares two codes of one length in a time that does not depend on where they differ. An attacker could otherwise
    /// find a valid one byte by byte.
    static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
    }
}
