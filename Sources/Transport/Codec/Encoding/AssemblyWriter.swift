/// Fills the memory of the finished message from its start, and never writes beyond its end.
struct AssemblyWriter: ByteSink {
    private let destination: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ destination: UnsafeMutableRawBufferPointer) {
        self.destination = destination
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        guard count < destination.count else { return }
        destination[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let room = take(bytes.count) else { return }
        room.copyMemory(from: bytes)
    }

    mutating func append(_ scalar: WireScalar) {
        append(scalar.tag)
        withUnsafeBytes(of: scalar.bits.littleEndian) { bytes in
            append(UnsafeRawBufferPointer(rebasing: bytes.prefix(scalar.width)))
        }
    }

    mutating func append(_ payload: any WirePayload, as form: PayloadForm) {
        guard let room = take(form.byteCount) else { return }
        payload.copy(as: form, to: room)
    }

    @inline(__always)
    private mutating func take(_ added: Int) -> UnsafeMutableRawBufferPointer? {
        guard added <= destination.count - count else { return nil }
        defer { count += added }
        return UnsafeMutableRawBufferPointer(rebasing: destination[count..<count + added])
    }
}
