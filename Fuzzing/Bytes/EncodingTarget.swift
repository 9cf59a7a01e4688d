import NIOCore

@testable import Transport

/// Values of any shape, written in any order of containers, some of them against the rules. A value that is written can be read and
/// is the same value; one that cannot be written leaves nothing behind; and neither disturbs the next message.
enum EncodingTarget: FuzzTarget {
    static let name = "encoding"

    static func run(_ input: FuzzInput) {
        var input = input
        let before = ByteBuffer(repeating: 0x5A, count: Int(input.byte() & 31))
        let shape = Shape(&input)
        let isLawful = !shape.breaksRules && shape.depth <= Shape.surelyWritable
        let kept = KeptEncoders()
        var buffer = before
        do {
            try WireCoder.encode(ShapeWriter(shape: shape, kept: kept, isLawful: isLawful), into: &buffer)
            require(!shape.breaksRules, "a broken rule is told: \(shape)")
            require(buffer.readSlice(length: before.readableBytes) == before, "what stood before stays")
            check(buffer, shape)
        } catch {
            require(!isLawful, "a value within the rules can be written: \(error), \(shape)")
            require(buffer == before, "nothing is left of a value that failed")
        }
        checkNext(beside: kept)
    }

    private static func check(_ message: ByteBuffer, _ shape: Shape) {
        ShapeReader.expected = shape
        do {
            _ = try WireCoder.decode(ShapeReader.self, from: message)
        } catch {
            fatalError("does not hold: what was written can be read: \(error), \(shape)")
        }
    }

    /// Checks that the next message is as always, before, while and after encoders of this one are used.
    private static func checkNext(beside kept: KeptEncoders) {
        for meddles in [false, true, false] {
            let next = try? WireCoder.encode(Next(kept: meddles ? kept : nil))
            require(next?.array == [1, 1, 97, 0xA2, 0, 5], "the next message is as always: \(next?.array ?? [])")
        }
    }

    private struct Next: Encodable {
        let kept: KeptEncoders?

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: AnyKey.self)
            kept?.use()
            try fields.encode(5, forKey: AnyKey(stringValue: "a"))
            kept?.use()
        }
    }

    static func seeds() -> [[UInt8]] {
        let scalars: [[UInt8]] = [
            [0], [129], [2, 255, 255, 255, 255, 255, 255, 255, 1], [163, 9, 9, 9, 9, 9, 9, 9, 9],
            [4, 0x3F, 0xB9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9A], [5, 0x3F, 0x80, 0, 0], [6, 0x7F, 0xA0, 0, 1],
            [7, 3, 97, 98, 99], [8, 2, 1, 2], [9, 2, 1, 2], [10, 3, 1, 2, 3], [171, 3, 1, 2, 3], [12],
        ]
        // Next come arrays and objects of them all, in the four manners, and then the values that break a rule.
        let count = UInt8(scalars.count)
        var seeds = scalars
        for manner in 0..<4 as Range<UInt8> {
            let array = [16 | manner << 5, count] + Array(scalars.joined())
            let fields = scalars.indices.flatMap { [3 * UInt8($0)] + scalars[$0] }
            seeds += [array, [23 | manner << 5, count] + fields, [17 | manner << 5] + array]
            seeds.append([13, manner])
        }
        return (seeds + [[14, 18, 1, 1]]).map { [3] + $0 }
    }
}
