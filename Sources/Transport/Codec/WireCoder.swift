package import NIOCore

/// The binary `Codable` coder of every actor call; `docs/PROTOCOL.md`, "Value encoding", is its format.
///
/// A message is self-describing: every value carries its kind and every container its length, so that a reader
/// steps over fields it does not know. Adding an optional field is therefore compatible in both directions.
package enum WireCoder {
    /// The bytes of `value`.
    ///
    /// - Throws: `EncodingError` for values that the format cannot hold (128-bit integers, more than `MessageLimits.depth` nested
    ///   containers, one key twice in one container), `WireCodingError.limitExceeded` for a message of 2^31 bytes or more, and
    ///   every error that `value` itself throws.
    package static func encode<T: Encodable>(_ value: T) throws -> ByteBuffer {
        var buffer = ByteBuffer()
        try encode(value, into: &buffer)
        return buffer
    }

    /// Appends the bytes of `value` to `buffer`; leaves `buffer` as it was when it throws.
    ///
    /// - Parameter limit: The most bytes that may be appended. A longer message is refused with
    ///   `WireCodingError.limitExceeded` as soon as it is known to be longer, which for bytes, text and arrays of
    ///   numbers is before anything of them is copied.
    package static func encode<T: Encodable>(
        _ value: T,
        into buffer: inout ByteBuffer,
        limit: Int = .max
    ) throws {
        if let native = NativeValue(value) { return try native.write(to: &buffer, limit: limit) }
        var session = EncodingSession.pool.take()
        defer { EncodingSession.pool.put(&session) }
        session.tape.pointee.limit = min(limit, MessageLimits.byteCount)
        try value.encode(to: WireEncoder(session: session, node: EncodingTape.root))
        try session.tape.pointee.assemble(into: &buffer)
    }

    /// The value whose bytes `buffer` holds, all of them.
    ///
    /// `[UInt8]` is copied; a `ByteBuffer` inside the value shares the storage of `buffer` and keeps it alive.
    ///
    /// - Throws: `WireCodingError` when the bytes break the format or a limit, `DecodingError` when they hold another value than a
    ///   `T` (its texts are cut and cleaned, see `PeerText`), and every error that `T` itself throws.
    package static func decode<T: Decodable>(
        _ type: T.Type,
        from buffer: ByteBuffer,
        limits: DecodingLimits = .init()
    ) throws -> T {
        // The pointer is good as long as the storage, which `buffer` keeps; while it does, nobody writes to it.
        let (bytes, storage) = buffer.withUnsafeReadableBytesWithStorageManagement { ($0, $1.takeUnretainedValue()) }
        defer { withExtendedLifetime((buffer, storage)) {} }
        let reader = try WireReader(bytes, textLimit: limits.stringBytes)
        guard let value = reader.loneValue() else {
            return try decodeWhole(type, from: buffer, reader: reader, limits: limits)
        }
        return try reader.read(type, from: value, slice: { try buffer.slice($0) }) {
            try decodeWhole(type, from: buffer, reader: reader, limits: limits)
        }
    }

    /// The value of a message that takes more than reading one value.
    private static func decodeWhole<T: Decodable>(
        _ type: T.Type,
        from buffer: ByteBuffer,
        reader: WireReader,
        limits: DecodingLimits
    ) throws -> T {
        var message = DecodingMessage.pool.take()
        defer { DecodingMessage.pool.put(&message) }
        // A type may keep its decoder; after this call the bytes are no longer its to read.
        defer { message.close() }
        do {
            let value = try message.state.pointee.open(buffer, reader: reader, limits: limits)
            return try message.construct(type, from: WireDecoder(message: message, value: value, node: 0))
        } catch let error as DecodingError {
            throw error.withCleanText
        }
    }
}
