import NIOCore

extension WireCoder {
    /// Bytes from this length on are sent from where they are; below it a copy is cheaper.
    static let apartLength = 32 * 1024

    /// Whether a value is a message whose bytes can be sent from where they are, behind `writeHead`.
    @inline(__always)
    static func payload<Value>(of value: Value) -> FrameTail? {
        if let bytes = same(value, as: [UInt8].self) { return bytes.count >= apartLength ? FrameTail(bytes) : nil }
        guard let buffer = same(value, as: ByteBuffer.self), buffer.readableBytes >= apartLength else { return nil }
        return FrameTail(buffer)
    }

    /// Appends what comes before the bytes of a payload that is a whole message.
    static func writeHead(ofPayload payload: FrameTail, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(UInt8(0), WireTag.bytes)
        var rest = UInt(bitPattern: payload.readableBytes)
        while rest >= 0x80 {
            buffer.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.writeInteger(UInt8(truncatingIfNeeded: rest))
    }
}
