import Glibc

/// A number by which two different keys mostly differ, so that a scan over keys compares few of their bytes.
struct KeyFingerprint: Equatable {
    private let value: UInt64

    @inline(__always)
    init(_ key: UnsafeRawBufferPointer) {
        let count = key.count
        if count >= 8 {
            let head = key.loadUnaligned(as: UInt64.self)
            let tail = key.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            value = (head &* 0x9E37_79B9_7F4A_7C15) ^ tail ^ UInt64(truncatingIfNeeded: count)
        } else {
            // The count makes the key "" and the key "\0" differ.
            var bits = UInt64(truncatingIfNeeded: count)
            for byte in key { bits = bits << 8 | UInt64(byte) }
            value = bits
        }
    }
}

/// The bytes of a key, to be looked up among many. They belong to the code that made the value.
struct KeyBytes: Hashable {
    let bytes: UnsafeRawBufferPointer

    static func == (left: KeyBytes, right: KeyBytes) -> Bool { left.bytes.hasSameBytes(as: right.bytes) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes: bytes)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}

extension String {
    /// Keys are the same when their bytes are, so that no two peers can differ over Unicode's tables.
    @inline(__always)
    func withKeyBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable({ try body(UnsafeRawBufferPointer($0)) }) {
            return result
        }
        var copy = self
        return try copy.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
    }
}
