public import Distributed
import NIOCore

/// Collects the arguments of a remote call, behind room for the header that is filled in when the call is made: the
/// body of the call frame is made in one piece. Generic distributed methods are not supported: a peer must never be
/// able to name a type.
public struct CallEncoder: DistributedTargetInvocationEncoder {
    public typealias SerializationRequirement = any Codable & Sendable

    /// Bytes of `remaining`, `trace` and `target`.
    static let headerSize = 16

    private var buffer: ByteBuffer
    private var count: UInt8 = 0

    init() {
        buffer = ByteBuffer()
        buffer.reserveCapacity(256)
        buffer.writeRepeatingByte(0, count: CallEncoder.headerSize + 1)
    }

    public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
        throw RemoteError(.noSuchMethod, "generic distributed methods are not supported")
    }

    /// - Throws: `EncodingError`, or `TransportError.tooLarge` before memory is spent on what no link carries.
    public mutating func recordArgument<Value: Codable & Sendable>(_ argument: RemoteCallArgument<Value>) throws {
        guard count < CallRequest.argumentLimit else {
            throw RemoteError(.badArguments, "more than \(CallRequest.argumentLimit) arguments")
        }
        count += 1
        let start = buffer.writerIndex
        buffer.writeInteger(UInt32(0))
        try WireCoder.encode(argument.value, into: &buffer)
        buffer.setInteger(UInt32(clamping: buffer.writerIndex - start - 4), at: start)
    }

    public mutating func recordReturnType<R: Codable & Sendable>(_ type: R.Type) throws {}

    public mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}

    public mutating func doneRecording() throws {}

    /// Gives away the body of the call frame, complete but for its target.
    mutating func takeBody(remaining: Duration, trace: UInt64) -> ByteBuffer {
        var body = ByteBuffer()
        swap(&body, &buffer)
        body.setInteger(CallEncoder.milliseconds(remaining), at: 0)
        body.setInteger(trace, at: 4)
        body.setInteger(count, at: CallEncoder.headerSize)
        return body
    }

    /// Fills in the target of a body: its index on the link, or its names where it has none (0).
    static func set(_ target: CallTarget, index: UInt32, in body: inout ByteBuffer) {
        if index != 0 {
            body.setInteger(index, at: 12)
            return
        }
        var named = ByteBuffer()
        named.reserveCapacity(body.readableBytes + 2 * (1 + CallTarget.nameLimit))
        var rest = body
        if let head = rest.readSlice(length: headerSize) { named.writeImmutableBuffer(head) }
        target.write(into: &named)
        named.writeBuffer(&rest)
        body = named
    }

    /// Of a duration, rounded up so that a call with time left is never sent with none.
    static func milliseconds(_ duration: Duration) -> UInt32 {
        let (seconds, attoseconds) = max(.zero, duration).components
        guard seconds < Int64(UInt32.max / 1000) else { return .max }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return UInt32(clamping: seconds * 1000 + part)
    }
}
