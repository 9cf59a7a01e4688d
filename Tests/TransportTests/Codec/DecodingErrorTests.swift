import NIOCore
import Testing
import Transport

@Suite("Errors say where and what")
struct DecodingErrorTests {
    private func error<T: Decodable>(_ type: T.Type, _ message: ByteBuffer) -> DecodingError? {
        #expect(throws: DecodingError.self) { try WireCoder.decode(type, from: message) }
    }

    @Test("The coding path leads to the value")
    func path() throws {
        let message = try WireCoder.encode(["a": [["x": 1], ["x": 2, "y": 300]]])
        guard case .dataCorrupted(let context) = error([String: [[String: UInt8]]].self, message) else {
            Issue.record("not a corrupted value")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1", "y"])
        #expect(context.codingPath[1].intValue == 1)
        #expect(context.debugDescription == "The number on the wire does not fit in UInt8")
    }

    @Test("A missing key, a wrong kind and a null each have their error")
    func kinds() throws {
        guard case .keyNotFound(let key, let context) = error([Box<Int>].self, try WireCoder.encode([["v": 1]])) else {
            Issue.record("not a missing key")
            return
        }
        #expect(key.stringValue == "value" && context.codingPath.map(\.stringValue) == ["Index 0"])
        guard case .typeMismatch(let type, _) = error([String].self, try WireCoder.encode([1, 2])) else {
            Issue.record("not a mismatch")
            return
        }
        #expect(type is String.Type)
        guard case .valueNotFound = error([Int].self, try WireCoder.encode([nil, 2])) else {
            Issue.record("not a missing value")
            return
        }
        guard case .typeMismatch = error(Box<Int>.self, try WireCoder.encode("text")) else {
            Issue.record("not a mismatch")
            return
        }
    }

    @Test("Errors hold no more of the peer's text than a log line can take")
    func cleanText() throws {
        let evil = "\u{1B}[2J\n" + String(repeating: "x", count: 100_000)
        let messages = try [
            WireCoder.encode([evil: ["a"]]), WireCoder.encode(["a": evil]), WireCoder.encode([evil]),
        ]
        for message in messages {
            for decode in [
                { _ = try WireCoder.decode([String: Kind].self, from: message) },
                { _ = try WireCoder.decode([Kind].self, from: message) },
                { _ = try WireCoder.decode([String: Int].self, from: message) },
            ] {
                let error = #expect(throws: DecodingError.self) { try decode() }
                let text = error.map { "\($0)" } ?? ""
                #expect(text.utf8.count < 1500)
                #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
                #expect(!text.contains("[2J\n"))
            }
        }
        let key = Array(evil.utf8.prefix(60))
        let table = [2] + (([60] as [UInt8]) + key) + ([60] + key) + [0]
        let error = #expect(throws: WireCodingError.self) { try WireCoder.decode(Int.self, table) }
        #expect(error?.description == "key \"?[2J?\(String(repeating: "x", count: 43))...\" appears twice")
    }
}
