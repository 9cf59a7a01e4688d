package import NIOCore

/// A long payload at the end of the body of a frame that is sent. It stays where it is until it is written, piece by piece.
///
/// It is a class, because nearly no frame has one, and frames are copied often.
package final class FrameTail: Equatable, Sendable {
    enum Bytes: Equatable, Sendable {
        /// Bytes that are written from where they are.
        case buffer(ByteBuffer)
        /// The bytes of an array from `start` up to `end`. Sockets write buffers only, so these are copied, but no earlier than they
        /// are written: the same memory serves one piece after the other, and no long body has to be made.
        case array([UInt8], start: Int, end: Int)
    }

    let bytes: Bytes

    private init(_ bytes: Bytes) { self.bytes = bytes }

    package convenience init(_ buffer: ByteBuffer) { self.init(.buffer(buffer)) }

    package convenience init(_ array: [UInt8]) { self.init(.array(array, start: 0, end: array.count)) }

    package static func == (left: FrameTail, right: FrameTail) -> Bool { left.bytes == right.bytes }

    package var readableBytes: Int {
        switch bytes {
        case .buffer(let buffer): buffer.readableBytes
        case .array(_, let start, let end): end - start
        }
    }

    /// The first `length` bytes, and the others; there have to be as many.
    func split(at length: Int) -> (FrameTail, FrameTail) {
        switch bytes {
        case .buffer(var buffer):
            let first = buffer.readSlice(length: length) ?? ByteBuffer()
            return (FrameTail(first), FrameTail(buffer))
        case .array(let array, let start, let end):
            let middle = min(start + length, end)
            return (
                FrameTail(.array(array, start: start, end: middle)), FrameTail(.array(array, start: middle, end: end))
            )
        }
    }

    /// Appends the bytes to `buffer`.
    func write(into buffer: inout ByteBuffer) {
        switch bytes {
        case .buffer(let tail): buffer.writeImmutableBuffer(tail)
        case .array(let array, let start, let end):
            _ = array.withUnsafeBytes { buffer.writeBytes(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        }
    }
}
