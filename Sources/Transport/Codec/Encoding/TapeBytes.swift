/// Bytes that grow at the end: the only place of the encoder that writes beyond a pointer of its own. It is not an array, which
/// would check for each byte that nobody else has it.
struct TapeBytes: ~Copyable, ByteSink {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    private static let initialCapacity = 512

    init() {
        capacity = Self.initialCapacity
        start = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        start.deallocate()
    }

    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// Room for all eight bytes is taken and then given back in part, so that there is one store whatever the width.
    @inline(__always)
    mutating func append(_ scalar: WireScalar) {
        reserve(WireScalar.byteCountMax)
        start.storeBytes(of: scalar.tag, toByteOffset: count, as: UInt8.self)
        start.storeBytes(of: scalar.bits.littleEndian, toByteOffset: count + 1, as: UInt64.self)
        count += 1 + scalar.width
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Appends `count` bytes, all of which `write` must set.
    @inline(__always)
    mutating func append(count added: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        reserve(added)
        write(UnsafeMutableRawBufferPointer(start: start + count, count: added))
        count += added
    }

    /// Forgets all bytes, and the memory too when it is more than `capacityMax`.
    mutating func clear(capacityMax: Int) {
        count = 0
        guard capacity > capacityMax else { return }
        self = TapeBytes()
    }

    @inline(__always)
    private mutating func reserve(_ added: Int) {
        if capacity - count < added { grow(added) }
    }

    @inline(never)
    private mutating func grow(_ added: Int) {
        let larger = max(2 * capacity, count + added)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        copy.copyMemory(from: start, byteCount: count)
        start.deallocate()
        (start, capacity) = (copy, larger)
    }
}
