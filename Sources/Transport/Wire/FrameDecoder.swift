package import NIOCore

/// Cuts the bytes of a link into frames. It holds at most one short frame that is not yet whole: the bytes of a long data frame are
/// given out as they come, as pieces of its body, so that long bodies are copied once and not twice.
package struct FrameDecoder {
    /// Why a link cannot be read any further.
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

    /// The longest data frame that is given out whole, in bytes. Longer ones are given out in pieces as they come.
    static let wholeLimit = 32 * 1024
    private let wholeLimit: Int

    /// The longest frame accepted now; it is raised once the handshake is done.
    package var limit: Int
    private var buffer = ByteBuffer()
    /// The long frame that is being given out, with an empty body, and how much of its body is to come.
    private var open: (frame: Frame, left: Int)?

    package init(limit: Int = FrameLimits.handshake) {
        self.init(limit: limit, wholeLimit: FrameDecoder.wholeLimit)
    }

    /// - Parameter wholeLimit: tests set it, so that a frame of a few bytes is a long one.
    init(limit: Int, wholeLimit: Int) {
        self.limit = limit
        self.wholeLimit = wholeLimit
    }

    /// Takes in bytes that arrived.
    ///
    /// - Parameter isLent: whether the owner of the bytes uses their memory again as soon as nobody else holds it, and otherwise
    ///   copies all of it. Bodies hold memory for a long time.
    package mutating func append(_ bytes: ByteBuffer, isLent: Bool = false) {
        guard buffer.readableBytes > 0 else {
            if isLent {
                buffer = ByteBufferAllocator().buffer(capacity: bytes.readableBytes)
                buffer.writeImmutableBuffer(bytes)
            } else {
                buffer = bytes
            }
            return
        }
        // The rest of a frame goes to memory of its own that has room for the whole frame. The memory where it is now is shared
        // with the frames before it, and would be copied whole.
        if buffer.readerIndex > 0 || buffer.writableBytes < bytes.readableBytes {
            let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self).map(Int.init) ?? 0
            let expected = 4 + min(length, min(limit, wholeLimit))
            var whole = ByteBuffer()
            whole.reserveCapacity(max(expected, buffer.readableBytes + bytes.readableBytes))
            whole.writeBuffer(&buffer)
            buffer = whole
        }
        buffer.writeImmutableBuffer(bytes)
    }

    /// The next whole frame or piece of a long one, or `nil` until more arrives.
    ///
    /// - Throws: `Failure` where the bytes cannot be a frame. The link must then be closed: there is no way to
    ///   find the next frame.
    package mutating func next() throws(Failure) -> Frame? {
        if open != nil { return nextPiece() }
        while let isWhole = try skipOptional() {
            if !isWhole { return nil }
        }
        let start = buffer.readerIndex
        guard let length = buffer.getInteger(at: start, as: UInt32.self).map(Int.init) else { return nil }
        if length > limit { throw .tooLong(length: length, limit: limit) }
        if length < Frame.headerSize { throw .tooShort(length: length) }
        let isWhole = buffer.readableBytes >= 4 + length
        guard isWhole || (length > wholeLimit && buffer.readableBytes >= 4 + Frame.longestHeader),
            let (_, rawKind, rawFlags, call) = buffer.readMultipleIntegers(as: (UInt32, UInt8, UInt8, UInt64).self)
        else { return nil }
        guard let kind = Frame.Kind(rawValue: rawKind) else { throw .unknownKind(rawKind) }
        if kind.isControl, length > FrameLimits.control { throw .tooLong(length: length, limit: FrameLimits.control) }
        var frame = Frame(kind, flags: Frame.Flags(rawValue: rawFlags).intersection(.onWire), call: call)
        if frame.flags.contains(.sized) {
            guard let total = buffer.readInteger(as: UInt32.self), length >= frame.length else {
                throw .tooShort(length: length)
            }
            frame.total = total
        }
        let size = length - frame.length
        if isWhole || kind.isControl {
            guard let body = buffer.readSlice(length: size) else {
                // This is a long control frame that is not whole yet.
                buffer.moveReaderIndex(to: start)
                return nil
            }
            frame.body = body
            return frame
        }
        open = (frame, size)
        return nextPiece()
    }

    /// Takes out the next frame if it may be skipped and is whole. Before the handshake is done, no frame may be skipped.
    ///
    /// - Returns: whether it was whole; `nil` where the next frame may not be skipped, or where its kind has not come.
    private mutating func skipOptional() throws(Failure) -> Bool? {
        let start = buffer.readerIndex
        guard limit > FrameLimits.handshake,
            let (length, kind) = buffer.getMultipleIntegers(at: start, as: (UInt32, UInt8).self),
            kind >= Frame.Kind.firstOptional,
            // What is too long for any frame fails in the same words whether or not its kind has come.
            length <= limit
        else { return nil }
        if length > FrameLimits.control { throw .tooLong(length: Int(length), limit: FrameLimits.control) }
        if length < Frame.headerSize { throw .tooShort(length: Int(length)) }
        guard buffer.readableBytes >= 4 + Int(length) else { return false }
        buffer.moveReaderIndex(forwardBy: 4 + Int(length))
        return true
    }

    /// Gives out the bytes of the open frame that have come. All pieces but the last of a frame say that more follow.
    private mutating func nextPiece() -> Frame? {
        guard var (frame, left) = open else { return nil }
        let isFirst = !frame.flags.contains(.continued)
        guard buffer.readableBytes > 0 || left == 0 || isFirst,
            let body = buffer.readSlice(length: min(left, buffer.readableBytes))
        else { return nil }
        if isFirst, !frame.flags.contains(.more), !frame.flags.contains(.sized) {
            // The frame holds the rest of its body, or all of it, so its length is a hint worth having.
            frame.total = UInt32(clamping: left)
        }
        left -= body.readableBytes
        var piece = frame
        piece.body = body
        if left == 0 {
            open = nil
        } else {
            piece.flags.insert(.more)
            frame.flags.insert(.continued)
            frame.flags.remove(.sized)
            frame.total = 0
            open = (frame, left)
        }
        return piece
    }
}
