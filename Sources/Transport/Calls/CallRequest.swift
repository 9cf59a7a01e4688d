package import NIOCore

/// The body of a call frame, as it is read.
///
///     remaining  UInt32   milliseconds the caller will still wait
///     trace      UInt64   follows a piece of work through logs; 0 where there is none
///     target     UInt32   an index declared on this link; 0 where the names follow
///     names      UInt8 length and UTF-8 of the actor, the same of the method; only where `target` is 0
///     arguments  UInt8 count, then each UInt32 length and its value encoding
package struct CallRequest: Equatable, Sendable {
    package enum Target: Equatable, Sendable {
        case index(UInt32)
        case named(CallTarget)
    }

    package var remaining: Duration
    package var trace: UInt64
    package var target: Target
    /// Lengths and values, `count` of them.
    package var arguments: ByteBuffer
    package var count: Int

    /// The most arguments of a call. A distributed method has one request and rarely more; the limit bounds a loop over hostile
    /// bytes.
    package static let argumentLimit = 16

    /// Bytes of `remaining`, `trace` and `target`.
    static let headSize = 16
    /// Where `target` is.
    static let indexOffset = 12

    /// The result is `nil` where the bytes are not a call. The arguments are checked only when they are decoded.
    package init?(_ bytes: ByteBuffer) {
        var bytes = bytes
        guard let (remaining, trace, index) = bytes.readMultipleIntegers(as: (UInt32, UInt64, UInt32).self) else {
            return nil
        }
        if index == 0 {
            guard let target = CallTarget(from: &bytes) else { return nil }
            self.target = .named(target)
        } else {
            target = .index(index)
        }
        guard let count = bytes.readInteger(as: UInt8.self), count <= CallRequest.argumentLimit,
            count > 0 || bytes.readableBytes == 0
        else { return nil }
        self.remaining = .milliseconds(remaining)
        self.trace = trace
        self.count = Int(count)
        arguments = bytes
    }
}
