import NIOCore

extension WireCoder {
    /// `ByteBuffer`s from this length on are sent from where they are; below it a copy is cheaper.
    static let apartLength = 32 * 1024

    /// Whether a value is a message whose bytes can be sent from where they are, behind `writeHead`.
    @inline(__always)
    static func payload<Value>(of value: Value) -> ByteBuffer? {
        guard Value.self == ByteBuffer.self, let payload = value as? ByteBuffer,
            payload.readableBytes >= apartLength
        else { return nil }
        return payload
    }

    /// Appends what comes before the bytes of a `ByteBuffer` that is a whole message.
    static func writeHead(ofPayload payload: ByteBuffer, into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(UInt8(0), WireTag.bytes)
        var rest = UInt(bitPattern: payload.readableBytes)
        while rest >= 0x80 {
            buffer.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        buffer.writeInteger(UInt8(truncatingIfNeeded: rest))
    }
}
