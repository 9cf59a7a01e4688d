import NIOCore
import Testing
import Transport

@Suite("Coders share their memory with nobody")
struct SessionTests {
    /// Keeps its coder, to use it when it no longer should.
    private final class Keeper: Codable {
        var encoder: (any Encoder)?
        var encoding: (any UnkeyedEncodingContainer)?
        var fields: KeyedDecodingContainer<Key>?
        var elements: (any UnkeyedDecodingContainer)?

        enum Key: String, CodingKey { case list, text }

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            fields = container
            elements = try container.nestedUnkeyedContainer(forKey: .list)
            _ = try container.decode(String.self, forKey: .text)
        }

        func encode(to encoder: any Encoder) throws {
            self.encoder = encoder
            var container = encoder.container(keyedBy: Key.self)
            encoding = container.nestedUnkeyedContainer(forKey: .list)
            try encoding?.encode(1)
            try container.encode("kept", forKey: .text)
        }
    }

    @Test("A coder that a type has kept harms no other message")
    func kept() throws {
        let keeper = Keeper()
        let message = try WireCoder.encode(keeper)
        let decoded = try WireCoder.decode(Keeper.self, from: message)
        for _ in 0..<3 {
            try keeper.encoding?.encode(2)
            _ = keeper.encoder?.codingPath
            #expect(try WireCoder.roundTrip(Everything()) == Everything())
            #expect(decoded.fields?.contains(.text) == false)
            #expect(decoded.fields?.allKeys == [])
            #expect(decoded.fields?.codingPath.isEmpty == true)
            #expect(decoded.elements?.codingPath.count == 1)
            #expect(throws: (any Error).self) { try decoded.fields?.decode(String.self, forKey: .text) }
            #expect(throws: WireCodingError.self) { try decoded.elements?.decode(Int.self) }
        }
        #expect(try WireCoder.encode(Keeper()) == message)
    }

    @Test("A value may encode and decode others on the way")
    func nested() throws {
        struct Envelope: Codable, Equatable {
            var content: [Reservation]
            init(content: [Reservation]) { self.content = content }
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                content = []
                while !container.isAtEnd {
                    content.append(try WireCoder.decode(Reservation.self, from: container.decode(ByteBuffer.self)))
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for reservation in content { try container.encode(WireCoder.encode(reservation)) }
            }
        }
        let reservation = Reservation(
            coordinator: NodeID(rawValue: 77), job: "m13", slots: 4, attempt: 1, weight: 0.1, isLocal: true)
        let envelope = Envelope(content: [reservation, reservation])
        #expect(try WireCoder.roundTrip(["x": envelope]) == ["x": envelope])
    }

    @Test("Many threads code at once")
    func threads() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<50 {
                        let value = [["task \(task)": Box(value: round)], ["round": Box(value: task)]]
                        guard try WireCoder.roundTrip(value) == value else { return false }
                        if round % 10 == 0, try WireCoder.roundTrip(Everything()) != Everything() { return false }
                    }
                    return true
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test("A type may swallow the error of one container and read another")
    func swallowedErrors() throws {
        struct Tolerant: Decodable {
            var results: [Bool] = []
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    let decoder = try container.superDecoder()
                    results.append((try? decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .k)) != nil)
                }
            }
            enum Key: CodingKey { case k }
        }
        // [{k: <reserved tag>}, {k: 1}, {k: 1, k: 2}, {k: 3}]
        let bytes: [UInt8] = [
            1, 1, 0x6B, 0xCF, 4, 0xA2, 0, 0xFF, 0xA2, 0, 1, 0xA4, 0, 1, 0, 2, 0xA2, 0, 3,
        ]
        let message = bytes[..<3] + [0xC0 + UInt8(bytes.count - 4)] + bytes[4...]
        #expect(try WireCoder.decode(Tolerant.self, Array(message)).results == [false, true, false, true])
    }

    @Test("Keys are the same when their bytes are")
    func keyBytes() throws {
        let composed = Array("\u{E9}".utf8)
        let decomposed = Array("e\u{301}".utf8)
        let table = [2, UInt8(composed.count)] + composed + [UInt8(decomposed.count)] + decomposed
        #expect(try WireCoder.decode(Int.self, table + [7]) == 7)
        #expect(try WireCoder.decode([String: Int].self, table + [0xA4, 0, 1, 1, 2]).count == 1)
        let duplicate = [2, UInt8(composed.count)] + composed + [UInt8(composed.count)] + composed
        #expect(throws: WireCodingError.self) { try WireCoder.decode(Int.self, duplicate + [7]) }
    }
}
