import NIOCore
import Testing
import Transport

@Suite("Old and new peers understand one another")
struct CompatibilityTests {
    private struct Old: Codable, Equatable {
        var name: String
        var count: Int32
    }

    private struct New: Codable, Equatable {
        var before: [String: [Outcome]]?
        var name: String
        var tags: [String]?
        var count: Int64
        var after: Outcome?
    }

    @Test("A new optional field is skipped by the old and absent for the new")
    func addedFields() throws {
        let new = New(before: ["a": [.done]], name: "n", tags: ["x"], count: 5, after: .failed("f", code: 1))
        #expect(try WireCoder.decode([Old].self, from: WireCoder.encode([new])) == [Old(name: "n", count: 5)])
        let old = Old(name: "o", count: -6)
        #expect(
            try WireCoder.decode([New].self, from: WireCoder.encode([old]))
                == [New(before: nil, name: "o", tags: nil, count: -6, after: nil)])
    }

    @Test("Numbers may be widened, and narrowed while they fit")
    func widths() throws {
        #expect(try WireCoder.decode(Int64.self, from: WireCoder.encode(Int8(-5))) == -5)
        #expect(try WireCoder.decode(UInt8.self, from: WireCoder.encode(200)) == 200)
        #expect(try WireCoder.decode(Double.self, from: WireCoder.encode(Float(0.1))) == Double(Float(0.1)))
        #expect(try WireCoder.decode(Double.self, from: WireCoder.encode(-3)) == -3)
        #expect(try WireCoder.decode(Float.self, from: WireCoder.encode(0.5)) == 0.5)
        #expect(try WireCoder.decode([Int].self, from: WireCoder.encode([Int16(-300), 5])) == [-300, 5])
        #expect(try WireCoder.decode([Double].self, from: WireCoder.encode([Float(0.5)])) == [0.5])
        #expect(try WireCoder.decode([Double].self, from: WireCoder.encode([1, 2])) == [1, 2])
        #expect(throws: DecodingError.self) { try WireCoder.decode(UInt8.self, from: WireCoder.encode(256)) }
        #expect(throws: DecodingError.self) { try WireCoder.decode(UInt.self, from: WireCoder.encode(-1)) }
        #expect(throws: DecodingError.self) { try WireCoder.decode([UInt8].self, from: WireCoder.encode([1, 256])) }
        #expect(throws: DecodingError.self) { try WireCoder.decode(Float.self, from: WireCoder.encode(0.1)) }
        #expect(throws: DecodingError.self) { try WireCoder.decode(Int.self, from: WireCoder.encode(1.0)) }
    }

    @Test("An array of numbers reads packed or one by one, whatever the peer declares")
    func arrays() throws {
        #expect(try WireCoder.decode([Int?].self, from: WireCoder.encode([1, -300])) == [1, -300])
        #expect(try WireCoder.decode([Int].self, from: WireCoder.encode([1, -300] as [Int?])) == [1, -300])
        #expect(try WireCoder.decode(Set<Int>.self, from: WireCoder.encode([1, 2])) == [1, 2])
        #expect(try WireCoder.decode([Int].self, from: WireCoder.encode(Set([7]))) == [7])
        #expect(try WireCoder.decode([UInt8?].self, from: WireCoder.encode([1, 2] as [UInt8])) == [1, 2])
        #expect(try WireCoder.decode([UInt8].self, from: WireCoder.encode([1, 200])) == [1, 200])
        #expect(try WireCoder.decode([Int].self, from: WireCoder.encode([1, 2] as [UInt8])) == [1, 2])
        #expect(try WireCoder.decode([Double?].self, from: WireCoder.encode([0.1])) == [0.1])
        #expect(try WireCoder.decode([Int8].self, from: WireCoder.encode([-128, 127])) == [-128, 127])
    }
}
