package import NIOCore

/// A long payload at the end of the body of a frame that is sent. It stays where it is until it is written, piece by piece.
package enum FrameTail: Equatable, Sendable {
    /// Bytes that are written from where they are.
    case buffer(ByteBuffer)
    /// The bytes of an array from `start` up to `end`. Sockets write buffers only, so these are copied, but no earlier than they are
    /// written: the same memory serves one piece after the other, and no long body has to be made.
    case array([UInt8], start: Int, end: Int)

    package init(_ array: [UInt8]) { self = .array(array, start: 0, end: array.count) }

    package var readableBytes: Int {
        switch self {
        case .buffer(let buffer): buffer.readableBytes
        case .array(_, let start, let end): end - start
        }
    }

    /// Takes out the first `length` bytes; `nil` where there are fewer.
    mutating func readSlice(length: Int) -> FrameTail? {
        switch self {
        case .buffer(var buffer):
            guard let slice = buffer.readSlice(length: length) else { return nil }
            self = .buffer(buffer)
            return .buffer(slice)
        case .array(let array, let start, let end):
            guard length >= 0, length <= end - start else { return nil }
            self = .array(array, start: start + length, end: end)
            return .array(array, start: start, end: start + length)
        }
    }

    /// Appends the bytes to `buffer`.
    func write(into buffer: inout ByteBuffer) {
        switch self {
        case .buffer(let tail): buffer.writeImmutableBuffer(tail)
        case .array(let array, let start, let end):
            _ = array.withUnsafeBytes { buffer.writeBytes(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
    }
}
