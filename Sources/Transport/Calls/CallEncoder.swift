public import Distributed
import NIOCore

/// Collects the arguments of a remote call. It leaves room for the header in front of them, which is filled in when the call is
/// made, so that the body of the call frame is made in one piece. Generic distributed methods are not supported: a peer must never
/// be able to name a type.
///
/// Short arguments are encoded at once. A long argument is kept as a value and encoded when the link has room for it, so that a
/// thousand callers of a slow link hold a thousand values and not their bytes too.
public struct CallEncoder: DistributedTargetInvocationEncoder {
    public typealias SerializationRequirement = any Codable & Sendable

    /// Arguments are encoded at once as long as all of them together take no more than this many bytes.
    static let earlyLimit = 4 * 1024

    private var buffer: ByteBuffer
    private var count: UInt8 = 0
    /// The arguments that were put off. Once one argument is put off, all later ones are put off too.
    private var late: [LateArgument] = []

    private enum LateArgument: Sendable {
        case value(@Sendable (inout ByteBuffer, _ limit: Int) throws -> Void)
        /// Bytes that are sent from where they are if they are the last argument.
        case payload(FrameTail)
    }

    init() {
        buffer = ScratchBuffers.take()
        CallEncoder.skip(CallRequest.headSize + 1, in: &buffer)
    }

    public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
        throw RemoteError(.noSuchMethod, "generic distributed methods are not supported")
    }

    /// - Throws: `EncodingError` for a value that the coder cannot hold.
    public mutating func recordArgument<Value: Codable & Sendable>(_ argument: RemoteCallArgument<Value>) throws {
        guard count < CallRequest.argumentLimit else {
            throw RemoteError(.badArguments, "more than \(CallRequest.argumentLimit) arguments")
        }
        count += 1
        let value = argument.value
        if let payload = WireCoder.payload(of: value) {
            late.append(.payload(payload))
            return
        }
        if late.isEmpty {
            do {
                return try CallEncoder.write(value, into: &buffer, limit: CallEncoder.earlyLimit)
            } catch is TransportError {
                // Too long to be encoded now.
            }
        }
        late.append(.value { buffer, limit in try CallEncoder.write(value, into: &buffer, limit: limit) })
    }

    public mutating func recordReturnType<R: Codable & Sendable>(_ type: R.Type) throws {}

    public mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}

    public mutating func doneRecording() throws {}

    /// Whether the call's body is so short that it is copied to the bytes that wait on the link.
    var isShort: Bool { late.isEmpty && buffer.readableBytes <= Outbox.shortLimit }

    /// Calls `send` with the body of a short call, complete except for the index of its target, which is to go to
    /// `CallRequest.indexOffset`.
    mutating func withShortBody<Result>(
        remaining: Duration, trace: UInt64, _ send: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        buffer.setMultipleIntegers(CallEncoder.milliseconds(remaining), trace, UInt32(0), count, at: 0)
        return buffer.withUnsafeReadableBytes(send)
    }

    /// Gives back the memory of a short call that has been sent: this encoder lives until the answer comes.
    mutating func release() { ScratchBuffers.give(&buffer) }

    /// Makes the call frame, which is complete except for its number.
    ///
    /// - Parameter index: the index of the target on the link; 0 where it has none and is sent by its names.
    /// - Throws: `TransportError.tooLarge` where its body would exceed `limit`, before memory is spent on it.
    mutating func takeFrame(
        to target: CallTarget, index: UInt32, remaining: Duration, trace: UInt64, limit: Int = FrameLimits.body
    ) throws -> Frame {
        var tail: FrameTail?
        for (index, argument) in late.enumerated() {
            switch argument {
            case .value(let write): try write(&buffer, limit)
            case .payload(let payload):
                let start = buffer.writerIndex
                buffer.writeInteger(UInt32(0))
                WireCoder.writeHead(ofPayload: payload, into: &buffer)
                let length = buffer.writerIndex - start - 4 + payload.readableBytes
                guard buffer.readableBytes + payload.readableBytes <= limit else {
                    throw TransportError.tooLarge(limit: limit)
                }
                buffer.setInteger(UInt32(clamping: length), at: start)
                if index == late.count - 1 { tail = payload } else { payload.write(into: &buffer) }
            }
        }
        late = []
        buffer.setMultipleIntegers(CallEncoder.milliseconds(remaining), trace, index, count, at: 0)
        if index == 0 { insertNames(of: target) }
        var frame = Frame(.call, body: buffer)
        frame.tail = tail
        // This encoder lives until the answer comes, and must not keep long arguments for that time.
        if buffer.readableBytes > CallEncoder.earlyLimit { buffer = ByteBuffer() }
        return frame
    }

    /// Writes one argument, leaving `buffer` as it was where that would make it longer than `limit`.
    private static func write(_ value: some Encodable, into buffer: inout ByteBuffer, limit: Int) throws {
        let start = buffer.writerIndex
        skip(4, in: &buffer)
        do {
            try WireCoder.encode(value, into: &buffer, limit: limit - buffer.writerIndex)
        } catch {
            buffer.moveWriterIndex(to: start)
            guard case WireCodingError.limitExceeded = error else { throw error }
            throw TransportError.tooLarge(limit: limit)
        }
        buffer.setInteger(UInt32(clamping: buffer.writerIndex - start - 4), at: start)
    }

    /// Leaves room for bytes that are known only later.
    private static func skip(_ count: Int, in buffer: inout ByteBuffer) {
        buffer.reserveCapacity(minimumWritableBytes: count)
        buffer.moveWriterIndex(forwardBy: count)
    }

    /// Puts the names of the target behind the header.
    private mutating func insertNames(of target: CallTarget) {
        var named = ByteBuffer()
        named.reserveCapacity(buffer.readableBytes + 2 * (1 + CallTarget.nameLimit))
        if let head = buffer.readSlice(length: CallRequest.headSize) { named.writeImmutableBuffer(head) }
        target.write(into: &named)
        named.writeBuffer(&buffer)
        buffer = named
    }

    /// The milliseconds of a duration, rounded up so that a call with time left is never sent with none.
    static func milliseconds(_ duration: Duration) -> UInt32 {
        let (seconds, attoseconds) = max(.zero, duration).components
        guard seconds <= Int64(UInt32.max / 1000) else { return .max }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return UInt32(clamping: seconds * 1000 + part)
    }
}
