package import NIOCore

/// The body of a call frame.
///
///     remaining  UInt32   milliseconds the caller will still wait
///     trace      UInt64   follows a piece of work through logs; 0 where there is none
///     actor      UInt8 length, then UTF-8
///     method     UInt8 length, then UTF-8
///     arguments  UInt8 count, then each UInt32 length and its value encoding
package struct CallRequest: Equatable, Sendable {
    package var remaining: Duration
    package var trace: UInt64
    package var actor: String
    package var method: String
    package var arguments: [ByteBuffer]

    package init(remaining: Duration, trace: UInt64, actor: String, method: String, arguments: [ByteBuffer]) {
        self.remaining = remaining
        self.trace = trace
        self.actor = actor
        self.method = method
        self.arguments = arguments
    }

    /// A distributed method has a request and rarely more; this bounds a loop over hostile bytes.
    package static let argumentLimit = 16

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        let (seconds, attoseconds) = max(.zero, remaining).components
        let milliseconds = UInt32(clamping: seconds.multipliedReportingOverflow(by: 1000).partialValue)
        buffer.writeInteger(UInt32(clamping: UInt64(milliseconds) + UInt64(attoseconds / 1_000_000_000_000_000)))
        buffer.writeInteger(trace)
        CallRequest.write(actor, into: &buffer)
        CallRequest.write(method, into: &buffer)
        buffer.writeInteger(UInt8(truncatingIfNeeded: min(arguments.count, CallRequest.argumentLimit)))
        for argument in arguments.prefix(CallRequest.argumentLimit) {
            buffer.writeInteger(UInt32(clamping: argument.readableBytes))
            buffer.writeImmutableBuffer(argument)
        }
        return buffer
    }

    /// `nil` where the bytes are no call.
    package init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let remaining = bytes.readInteger(as: UInt32.self), let trace = bytes.readInteger(as: UInt64.self),
            let actor = CallRequest.readString(from: &bytes), let method = CallRequest.readString(from: &bytes),
            let count = bytes.readInteger(as: UInt8.self), count <= CallRequest.argumentLimit
        else { return nil }
        var arguments: [ByteBuffer] = []
        for _ in 0..<count {
            guard let length = bytes.readInteger(as: UInt32.self), let argument = bytes.readSlice(length: Int(length))
            else { return nil }
            arguments.append(argument)
        }
        guard bytes.readableBytes == 0 else { return nil }
        self.init(
            remaining: .milliseconds(remaining), trace: trace, actor: actor, method: method, arguments: arguments)
    }

    private static func write(_ text: String, into buffer: inout ByteBuffer) {
        let bytes = text.utf8.prefix(Int(UInt8.max))
        buffer.writeInteger(UInt8(truncatingIfNeeded: bytes.count))
        buffer.writeBytes(bytes)
    }

    private static func readString(from buffer: inout ByteBuffer) -> String? {
        guard let length = buffer.readInteger(as: UInt8.self) else { return nil }
        return try? buffer.readUTF8ValidatedString(length: Int(length))
    }
}
