import NIOCore
import Testing
import Transport

@Suite("Containers do what Codable promises")
struct ContainerTests {
    /// Writes to five containers in turn, and reads them in another order.
    private struct Interleaved: Codable, Equatable {
        var numbers = [1, 2, 3]

        enum Key: String, CodingKey { case a, b, c, missing }

        init() {}

        func encode(to encoder: any Encoder) throws {
            var root = encoder.container(keyedBy: Key.self)
            var a = root.nestedUnkeyedContainer(forKey: .a)
            let superEncoder = root.superEncoder()
            var b = root.nestedContainer(keyedBy: Key.self, forKey: .b)
            var inner = a.nestedUnkeyedContainer()
            for number in numbers {
                try a.encode(number)
                try inner.encode(number * 10)
            }
            #expect(a.count == 4)
            #expect(inner.codingPath.map(\.stringValue) == ["a", "Index 0"])
            try b.encode("late", forKey: .a)
            try numbers.encode(to: superEncoder)
            try root.encode(true, forKey: .c)
            try b.encodeNil(forKey: .b)
        }

        init(from decoder: any Decoder) throws {
            let root = try decoder.container(keyedBy: Key.self)
            #expect(root.allKeys == [.a, .b, .c])
            #expect(!root.contains(.missing))
            #expect(try root.decode(Bool.self, forKey: .c))
            #expect(try root.decodeIfPresent(Bool.self, forKey: .missing) == nil)
            let b = try root.nestedContainer(keyedBy: Key.self, forKey: .b)
            #expect(try b.decodeNil(forKey: .b))
            #expect(try !b.decodeNil(forKey: .a))
            #expect(try b.decodeIfPresent(Int.self, forKey: .b) == nil)
            #expect(try b.decode(String.self, forKey: .a) == "late")
            var a = try root.nestedUnkeyedContainer(forKey: .a)
            #expect(a.count == 4)
            var inner = try a.nestedUnkeyedContainer()
            for number in 1...3 {
                #expect(a.currentIndex == number)
                #expect(throws: DecodingError.self) { try a.decode(String.self) }
                #expect(try !a.decodeNil())
                #expect(a.currentIndex == number)
                #expect(try a.decode(Int.self) == number)
                #expect(try inner.decode(Int.self) == number * 10)
            }
            #expect(a.isAtEnd && inner.isAtEnd)
            #expect(throws: DecodingError.self) { try a.decode(Int.self) }
            #expect(throws: DecodingError.self) { try a.decodeNil() }
            numbers = try [Int](from: root.superDecoder())
        }
    }

    @Test("Containers may be written in turn and read in another order")
    func interleaved() throws {
        #expect(try WireCoder.roundTrip(Interleaved()) == Interleaved())
    }

    @Test("A class hierarchy may use super encoders, or one container for all")
    func classes() throws {
        class Base: Codable {
            var name = "base"
        }
        final class Derived: Base {
            var count = 3
            enum Key: CodingKey { case count, base }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                count = try container.decode(Int.self, forKey: .count)
                try super.init(from: container.superDecoder(forKey: .base))
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try super.encode(to: container.superEncoder(forKey: .base))
                try container.encode(count, forKey: .count)
            }
        }
        final class Shared: Base {
            var count = 4
            enum Key: CodingKey { case count }
            override init() { super.init() }
            required init(from decoder: any Decoder) throws {
                try super.init(from: decoder)
                count = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .count)
            }
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(count, forKey: .count)
            }
        }
        let derived = Derived()
        (derived.name, derived.count) = ("x", 7)
        let other = try WireCoder.roundTrip(derived)
        #expect((other.name, other.count) == ("x", 7))
        let shared = Shared()
        (shared.name, shared.count) = ("y", 8)
        let another = try WireCoder.roundTrip(shared)
        #expect((another.name, another.count) == ("y", 8))
    }

    @Test("A type that encodes nothing is an empty container")
    func nothing() throws {
        struct Nothing: Codable {
            init() {}
            init(from decoder: any Decoder) {}
            func encode(to encoder: any Encoder) {}
        }
        #expect(try WireCoder.bytes(Nothing()) == [0, 0xA0])
        _ = try WireCoder.roundTrip([Nothing(), Nothing()])
    }

    @Test("One key twice, two values in one place or two kinds of container are errors, even when swallowed")
    func misuse() {
        struct Misuse: Encodable {
            let encode: @Sendable (any Encoder) throws -> Void
            func encode(to encoder: any Encoder) throws { try encode(encoder) }
        }
        let cases: [@Sendable (any Encoder) throws -> Void] = [
            { encoder in
                var container = encoder.container(keyedBy: Interleaved.Key.self)
                try container.encode(1, forKey: .a)
                try? container.encode(2, forKey: .a)
            },
            { encoder in
                var container = encoder.singleValueContainer()
                try container.encode(1)
                try? container.encode(2)
            },
            { encoder in
                _ = encoder.unkeyedContainer()
                _ = encoder.container(keyedBy: Interleaved.Key.self)
            },
        ]
        for body in cases {
            #expect(throws: EncodingError.self) { try WireCoder.encode(Misuse(encode: body)) }
            #expect(throws: EncodingError.self) { try WireCoder.encode([Misuse(encode: body)]) }
        }
    }

    @Test("A failed encode leaves the buffer alone")
    func failedEncode() {
        var buffer = ByteBuffer(string: "head")
        #expect(throws: EncodingError.self) { try WireCoder.encode([Int128(1)], into: &buffer) }
        #expect(buffer == ByteBuffer(string: "head"))
    }
}
