package import NIOCore

/// Cuts the bytes of a link into frames. Holds at most one frame that is not yet whole.
package struct FrameDecoder {
    /// Why a link is not worth reading further.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case tooLong(length: Int, limit: Int)
        case tooShort(length: Int)
        case unknownKind(UInt8)

        package var description: String {
            switch self {
            case .tooLong(let length, let limit): "a frame of \(length) bytes, where at most \(limit) are allowed"
            case .tooShort(let length): "a frame of \(length) bytes, too short for its header"
            case .unknownKind(let kind): "a frame of unknown kind \(kind)"
            }
        }
    }

    /// Longest frame accepted now; raised once the handshake is done.
    package var limit: Int
    private var buffer = ByteBuffer()

    package init(limit: Int = FrameLimits.handshake) {
        self.limit = limit
    }

    /// Takes in what arrived.
    package mutating func append(_ bytes: ByteBuffer) {
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            return
        }
        // The rest of a frame goes to memory of its own that has room for the whole frame: what it stands in is
        // shared with the frames before it, and would be copied whole.
        if buffer.readerIndex > 0 || buffer.writableBytes < bytes.readableBytes {
            let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self).map(Int.init) ?? 0
            let expected = 4 + min(length, limit)
            var whole = ByteBuffer()
            whole.reserveCapacity(max(expected, buffer.readableBytes + bytes.readableBytes))
            whole.writeBuffer(&buffer)
            buffer = whole
        }
        buffer.writeImmutableBuffer(bytes)
    }

    /// The next whole frame, or `nil` until more arrives.
    ///
    /// - Throws: `Failure` where the bytes cannot be a frame. The link must then be closed: there is no way to
    ///   find the next frame.
    package mutating func next() throws(Failure) -> Frame? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self).map(Int.init) else { return nil }
        if length > limit { throw .tooLong(length: length, limit: limit) }
        if length < Frame.headerSize { throw .tooShort(length: length) }
        guard buffer.readableBytes >= 4 + length else { return nil }
        guard
            let (_, rawKind, flags, call) = buffer.readMultipleIntegers(as: (UInt32, UInt8, UInt8, UInt64).self),
            let body = buffer.readSlice(length: length - Frame.headerSize)
        else { throw .tooShort(length: length) }
        guard let kind = Frame.Kind(rawValue: rawKind) else { throw .unknownKind(rawKind) }
        if kind.isControl, length > FrameLimits.control { throw .tooLong(length: length, limit: FrameLimits.control) }
        return Frame(kind, flags: Frame.Flags(rawValue: flags), call: call, body: body)
    }
}
