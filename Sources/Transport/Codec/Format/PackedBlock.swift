/// The elements of a packed array: integers or bit patterns of one width, little-endian, without padding.
enum PackedBlock {
    /// Fills `bytes` with every element as the `bits` that stand for it.
    @inline(__always)
    static func write<Element, Bits: FixedWidthInteger>(
        _ elements: [Element],
        to bytes: UnsafeMutableRawBufferPointer,
        bits: (Element) -> Bits
    ) {
        let width = MemoryLayout<Bits>.size
        guard bytes.count >= elements.count * width, let start = bytes.baseAddress else { return }
        elements.withUnsafeBufferPointer { elements in
            for index in elements.indices {
                start.storeBytes(of: bits(elements[index]).littleEndian, toByteOffset: index * width, as: Bits.self)
            }
        }
    }

    /// All elements; nil when `element` refuses one. The array that is allocated is as long as the block and no longer: at most
    /// eight bytes in memory for each byte of the message.
    @inline(__always)
    static func read<Element, Bits: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer,
        element: (Bits) -> Element?
    ) -> [Element]? {
        let width = MemoryLayout<Bits>.size
        let total = bytes.count / width
        var isComplete = true
        let elements = [Element](unsafeUninitializedCapacity: total) { storage, count in
            while count < total {
                let bits = Bits(littleEndian: bytes.loadUnaligned(fromByteOffset: count * width, as: Bits.self))
                guard let element = element(bits) else {
                    isComplete = false
                    return
                }
                storage.initializeElement(at: count, to: element)
                count += 1
            }
        }
        return isComplete ? elements : nil
    }
}
