import NIOCore
import Testing
import Transport

@Suite("Limits")
struct LimitsTests {
    private func limits(_ change: (inout DecodingLimits) -> Void) -> DecodingLimits {
        var limits = DecodingLimits()
        change(&limits)
        return limits
    }

    /// `depth` arrays in one another.
    private func nest(_ depth: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xC0]
        for _ in 1..<depth {
            let body = [1] + bytes
            let long = [0xF8, UInt8(body.count & 0x7F) | 0x80, UInt8(body.count >> 7)]
            bytes = (body.count < 16 ? [0xC0 + UInt8(body.count)] : long) + body
        }
        return [0] + bytes
    }

    /// Arrays all the way down.
    private struct Nest: Codable {
        var inner: [Nest]
        init(depth: Int) { inner = depth > 1 ? [Nest(depth: depth - 1)] : [] }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            inner = []
            while !container.isAtEnd { inner.append(try container.decode(Nest.self)) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for nest in inner { try container.encode(nest) }
        }
    }

    @Test("64 containers may nest, 65 may not, and the encoder says so first")
    func depth() throws {
        _ = try WireCoder.roundTrip(Nest(depth: 64))
        _ = try WireCoder.decode(Nest.self, nest(64))
        let tooDeep = WireCodingError.limitExceeded("depth", limit: 64)
        #expect(throws: tooDeep) { try WireCoder.decode(Nest.self, nest(65)) }
        #expect(throws: tooDeep) { try WireCoder.decode(Nest.self, nest(3000)) }
        #expect(throws: EncodingError.self) { try WireCoder.encode(Nest(depth: 65)) }
    }

    /// An array of numbers in so many others, which are containers.
    private struct Numbers: Codable, Equatable {
        var depth: Int
        var numbers: [Int]

        init(_ numbers: [Int], depth: Int) {
            self.depth = depth
            self.numbers = numbers
        }

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            depth = try container.decode(Int.self)
            let isLast = depth == 1
            numbers = isLast ? try container.decode([Int].self) : try container.decode(Numbers.self).numbers
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(depth)
            if depth == 1 {
                try container.encode(numbers)
            } else {
                try container.encode(Numbers(numbers, depth: depth - 1))
            }
        }
    }

    /// Found by the fuzzer: the reader counted an empty one and the writer did not.
    @Test("Arrays of numbers do not count among nested containers, empty ones as little as others", arguments: [0, 3])
    func arraysOfNumbers(count: Int) throws {
        let value = Numbers(Array(0..<count), depth: 64)
        let bytes = try WireCoder.encode(value)
        #expect(try WireCoder.decode(Numbers.self, from: bytes) == value)
    }

    @Test("A value that encodes nothing is a container too, and may not be the 65th")
    func emptyDepth() throws {
        // Found by the fuzzer: 64 arrays around a value without fields were written and could not be read.
        struct Nothing: Encodable {}
        struct Around: Encodable {
            let depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                if depth > 1 { try container.encode(Around(depth: depth - 1)) } else { try container.encode(Nothing()) }
            }
        }
        #expect(try WireCoder.encode(Around(depth: 63)).readableBytes > 63)
        #expect(throws: EncodingError.self) { try WireCoder.encode(Around(depth: 64)) }
    }

    @Test("A cycle of classes ends in an error")
    func cycle() {
        final class Ring: Encodable {
            var next: Ring?
        }
        let ring = Ring()
        ring.next = ring
        defer { ring.next = nil }
        #expect(throws: EncodingError.self) { try WireCoder.encode(ring) }
    }

    @Test("A type that decodes itself from the same value for ever ends in an error")
    func recursion() {
        struct Endless: Decodable {
            init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
        }
        let tooDeep = WireCodingError.limitExceeded("recursion", limit: 256)
        #expect(throws: tooDeep) { try WireCoder.decode(Endless.self, [0, 0]) }
    }

    @Test("Elements are counted over all containers, those of packed arrays only one by one")
    func elements() throws {
        let limits = limits { $0.elements = 10 }
        let nine = try WireCoder.encode([String](repeating: "", count: 9))
        #expect(try WireCoder.decode([String].self, from: nine, limits: limits).count == 9)
        let ten = try WireCoder.encode([String](repeating: "", count: 10))
        #expect(throws: WireCodingError.limitExceeded("elements", limit: 10)) {
            try WireCoder.decode([String].self, from: ten, limits: limits)
        }
        let nested = try WireCoder.encode([["", ""], ["", ""], ["", ""]])
        #expect(throws: WireCodingError.limitExceeded("elements", limit: 10)) {
            try WireCoder.decode([[String]].self, from: nested, limits: limits)
        }
        let packed = try WireCoder.encode([Int](0..<1000))
        #expect(try WireCoder.decode([Int].self, from: packed, limits: limits).count == 1000)
        #expect(throws: WireCodingError.limitExceeded("elements", limit: 10)) {
            try WireCoder.decode([Int?].self, from: packed, limits: limits)
        }
        let floats = try WireCoder.encode([Float](repeating: 1, count: 1000))
        #expect(try WireCoder.decode([Float].self, from: floats, limits: limits).count == 1000)
    }

    @Test("Long text and many keys are refused")
    func textAndKeys() throws {
        let text = try WireCoder.encode(["key": String(repeating: "a", count: 100)])
        #expect(throws: WireCodingError.limitExceeded("stringBytes", limit: 99)) {
            try WireCoder.decode([String: String].self, from: text, limits: limits { $0.stringBytes = 99 })
        }
        #expect(throws: WireCodingError.limitExceeded("keys", limit: 0)) {
            try WireCoder.decode([String: String].self, from: text, limits: limits { $0.keys = 0 })
        }
    }
}
