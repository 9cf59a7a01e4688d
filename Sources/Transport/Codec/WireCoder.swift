package import NIOCore

/// The binary `Codable` coder of every actor call; `docs/PROTOCOL.md`, "Value encoding", is its format.
///
/// A message is self-describing: every value carries its kind and every container its length, so that a reader
/// steps over fields it does not know. Adding an optional field is therefore compatible in both directions.
package enum WireCoder {
    /// The bytes of `value`.
    ///
    /// - Throws: `EncodingError` for what the format cannot hold (128-bit integers, more than `Limits.depth`
    ///   nested containers, one key twice in one container), and whatever `value` itself throws.
    package static func encode<T: Encodable>(_ value: T) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        try encode(value, into: &buffer)
        return buffer
    }

    /// Appends the bytes of `value` to `buffer`; leaves `buffer` as it was when it throws.
    package static func encode<T: Encodable>(_ value: T, into buffer: inout ByteBuffer) throws {
        let session = EncodingSession()
        try WireEncoder(session: session, node: EncodingTape.root).encode(value)
        try session.tape.assemble(into: &buffer)
    }

    /// The value of which `buffer` holds the bytes, all of them.
    ///
    /// `[UInt8]` is copied; a `ByteBuffer` inside the value shares the storage of `buffer` and keeps it alive.
    ///
    /// - Throws: `WireCodingError` when the bytes break the format or a limit, `DecodingError` when they hold
    ///   another value than a `T` (its texts are cut and cleaned, see `PeerText`), and whatever `T` itself throws.
    package static func decode<T: Decodable>(
        _ type: T.Type,
        from buffer: ByteBuffer,
        limits: Limits = .init()
    ) throws -> T {
        do {
            return try buffer.withUnsafeReadableBytes { bytes in
                let message = try DecodingMessage(bytes: bytes, buffer: buffer, limits: limits)
                // A type may keep its decoder; after this call the bytes are no longer its to read.
                defer { message.close() }
                return try message.readRoot(type)
            }
        } catch let error as DecodingError {
            throw error.withCleanText
        }
    }
}
