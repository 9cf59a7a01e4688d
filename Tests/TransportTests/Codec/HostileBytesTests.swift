import NIOCore
import Testing
import Transport

@Suite("Hostile bytes are refused")
struct HostileBytesTests {
    @Test("Every proper prefix of a message is refused")
    func prefixes() throws {
        let bytes = try WireCoder.bytes(Everything())
        for count in 0..<bytes.count {
            #expect(throws: WireCodingError.self) { try WireCoder.decode(Everything.self, Array(bytes[..<count])) }
        }
    }

    @Test("Bytes behind the value are refused")
    func trailing() {
        #expect(throws: WireCodingError.trailingBytes(count: 2)) { try WireCoder.decode(Int.self, [0, 5, 5, 5]) }
    }

    @Test("Unknown tags are refused", arguments: 0xFA...0xFF as ClosedRange<UInt8>)
    func tags(tag: UInt8) {
        #expect(throws: WireCodingError.unknownTag(tag, offset: 1)) { try WireCoder.decode(Int.self, [0, tag, 0]) }
    }

    @Test("A length, a count or a key beyond the message is refused before anything is allocated")
    func lies() {
        let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        for tag in [0xE5, 0xE6, 0xE7, 0xF8, 0xF9] as [UInt8] {
            #expect(throws: WireCodingError.truncated(offset: 2)) { try WireCoder.decode([Int].self, [0, tag] + huge) }
        }
        #expect(throws: WireCodingError.truncated(offset: 0)) { try WireCoder.decode(Int.self, huge + [0]) }
        #expect(throws: WireCodingError.truncated(offset: 2)) { try WireCoder.decode([Int?].self, [0, 0xC2, 2, 0]) }
        #expect(throws: WireCodingError.keyOutOfRange(offset: 2)) {
            try WireCoder.decode([String: Int].self, [0, 0xA2, 0, 0])
        }
    }

    @Test("A varint of more than 64 bits is refused")
    func varints() {
        let long = [UInt8](repeating: 0x80, count: 9)
        #expect(throws: WireCodingError.overlongNumber(offset: 2)) {
            try WireCoder.decode(String.self, [0, 0xE5] + long + [2])
        }
        #expect(throws: WireCodingError.overlongNumber(offset: 2)) {
            try WireCoder.decode(String.self, [0, 0xE5] + long + [0x80, 0])
        }
    }

    @Test("Text that is not UTF-8 is refused, as value and as key")
    func text() {
        for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x98], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]] {
            let count = UInt8(bad.count)
            #expect(throws: WireCodingError.invalidUTF8(offset: 2)) {
                try WireCoder.decode(String.self, [0, 0x80 + count] + bad)
            }
            #expect(throws: WireCodingError.invalidUTF8(offset: 2)) {
                try WireCoder.decode(Int.self, [1, count] + bad + [0])
            }
        }
    }

    @Test("A key that appears twice is refused, in the table and in a container")
    func duplicateKeys() {
        let key = WireCodingError.duplicateKey(PeerText("k"))
        #expect(throws: key) { try WireCoder.decode(Int.self, [2, 1, 0x6B, 1, 0x6B, 0]) }
        #expect(throws: key) { try WireCoder.decode([String: Int].self, [1, 1, 0x6B, 0xA4, 0, 1, 0, 2]) }
    }

    @Test("A container with more or fewer elements than it says is refused")
    func counts() {
        let wrong = WireCodingError.wrongElementCount(offset: 3)
        #expect(throws: wrong) { try WireCoder.decode([Int?].self, [0, 0xC3, 1, 5, 5]) }
        #expect(throws: wrong) { try WireCoder.decode([Int?].self, [0, 0xC3, 2, 0xE8, 5]) }
        #expect(throws: wrong) { try WireCoder.decode([Int?].self, [0, 0xC2, 0, 5]) }
        // Extra elements may hide only where nobody reads.
        #expect(throws: wrong) { try WireCoder.decode([String].self, [0, 0xC3, 1, 0x80, 0x80]) }
    }

    @Test("Packed arrays of unknown kind or cut elements are refused")
    func packed() {
        for body in [[], [0], [11, 0], [2, 0], [10, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
            let bytes = [0, 0xF9, UInt8(body.count)] + body
            let malformed = WireCodingError.malformedPackedArray(offset: 3)
            #expect(throws: malformed) { try WireCoder.decode([Int].self, bytes) }
            #expect(throws: malformed) { try WireCoder.decode([Int?].self, bytes) }
        }
    }

    @Test("A decoder that a type has kept throws after the decode")
    func keptDecoder() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            let container: any UnkeyedDecodingContainer
            init(from decoder: any Decoder) throws {
                self.decoder = decoder
                container = try decoder.unkeyedContainer()
            }
        }
        let keeper = try WireCoder.decode(Keeper.self, from: WireCoder.encode(["a", "b"]))
        var container = keeper.container
        #expect(throws: WireCodingError.self) { try container.decode(String.self) }
        #expect(throws: WireCodingError.self) { try [String](from: keeper.decoder) }
    }

    @Test("Thousands of keys and nested containers take time in proportion to their bytes")
    func noQuadraticWork() throws {
        // Each level's container is walked once, not once for each level above it.
        var deep: [String: [String: [String: Int]]] = [:]
        for outer in 0..<30 {
            for inner in 0..<30 {
                for leaf in 0..<30 { deep["k\(outer)", default: [:]]["k\(inner)", default: [:]]["k\(leaf)"] = leaf }
            }
        }
        #expect(try WireCoder.roundTrip(deep) == deep)
        // Backwards, so that every look-up misses where it expects the key.
        struct Backwards: Decodable {
            var sum = 0
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys.reversed() { sum += try container.decode(Int.self, forKey: key) }
            }
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
        }
        let wide = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("key \($0)", $0) })
        #expect(try WireCoder.decode(Backwards.self, from: WireCoder.encode(wide)).sum == 20_000 * 19_999 / 2)
    }
}
