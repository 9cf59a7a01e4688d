import NIOCore

/// The bytes of one run, taken from the front: first choices, then content. Once there are no more bytes, it gives zeros.
struct FuzzInput {
    private var bytes: Slice<UnsafeBufferPointer<UInt8>>

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes[...]
    }

    var isEmpty: Bool { bytes.isEmpty }

    /// The next byte, which stays the next.
    var peek: UInt8? { bytes.first }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    mutating func bool() -> Bool { byte() & 1 == 1 }

    /// A big-endian number of as many bytes as it has.
    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
        (0..<Number.bitWidth / 8).reduce(0) { number, _ in
            Number(truncatingIfNeeded: UInt64(truncatingIfNeeded: number) << 8 | UInt64(byte()))
        }
    }

    mutating func choice<Choices: RandomAccessCollection>(of choices: Choices) -> Choices.Element {
        choices[choices.index(choices.startIndex, offsetBy: Int(byte()) % choices.count)]
    }

    /// The next so many bytes, or as many as there are.
    mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return taken
    }

    /// One byte of length, then the bytes.
    mutating func field() -> [UInt8] { take(Int(byte())) }

    /// A field as text; bytes that are not UTF-8 are replaced.
    mutating func text() -> String { String(decoding: field(), as: UTF8.self) }

    mutating func rest() -> [UInt8] { take(bytes.count) }
}

extension ByteBuffer {
    /// The readable bytes.
    var array: [UInt8] { Array(readableBytesView) }
}
