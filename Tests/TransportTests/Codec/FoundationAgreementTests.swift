import Foundation
import NIOCore
import Testing
import Transport

@Suite("Whatever Foundation's coders round-trip, this one does")
struct FoundationAgreementTests {
    /// The value survives JSON, a binary property list and this coder, alone and nested, and all agree on it.
    private func check<T: Codable & Equatable>(_ value: T, _ location: SourceLocation = #_sourceLocation) throws {
        let boxed = Box(value: [value])
        let json = try JSONDecoder().decode(Box<[T]>.self, from: JSONEncoder().encode(boxed))
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let list = try PropertyListDecoder().decode(Box<[T]>.self, from: encoder.encode(boxed))
        let ours = try WireCoder.roundTrip(boxed)
        #expect(ours == boxed, sourceLocation: location)
        #expect(ours == json, sourceLocation: location)
        #expect(ours == list, sourceLocation: location)
        #expect(try WireCoder.roundTrip(value) == value, sourceLocation: location)
        #expect(try WireCoder.roundTrip(["k": value]) == ["k": value], sourceLocation: location)
        #expect(try WireCoder.roundTrip(T?.some(value)) == value, sourceLocation: location)
    }

    @Test("Foundation's values")
    func values() throws {
        try check(Date(timeIntervalSinceReferenceDate: 786_412_345.678))
        try check(Date.distantPast)
        try check(UUID())
        try check(URL(fileURLWithPath: "/tmp/m 13.fits"))
        try check(#require(URL(string: "https://example.org/a?b=c#d")))
        for text in ["0", "1.5", "-0.001", "123456789012345678901234567890", "1e-120"] {
            try check(#require(Decimal(string: text)))
        }
        try check(DateComponents(calendar: nil, year: 2026, month: 11, day: 21))
        try check(IndexSet([1, 2, 3, 9]))
        try check(CharacterSet(charactersIn: "abc"))
        try check(Locale(identifier: "de_CH"))
        try check(TimeZone(identifier: "UTC"))
        try check(Measurement(value: 1.5, unit: UnitLength.meters))
        try check(PersonNameComponents(givenName: "Charles", familyName: "Messier"))
    }

    @Test("The standard library's values")
    func standardValues() throws {
        try check(1..<5)
        try check(1...5)
        try check("a"..<"b")
        try check(Duration.seconds(-3) + .nanoseconds(7))
        try check(Set([1, 5, 9]))
        try check(Set(["x", "y"]))
        try check(ContiguousArray([1.5, 2.5]))
        try check(SIMD4<Float>(1, 2, 3, 4))
        try check([[[1], []], []] as [[[Int]]])
    }

    @Test("Dictionaries keyed by everything")
    func dictionaries() throws {
        try check(["a": 1, "": 2, "e\u{301}": 3])
        try check([1: "a", -1: "b"])
        try check([Kind.core: [1.5], .margin: []])
        try check([UUID(): Date(timeIntervalSinceReferenceDate: 1)])
        try check([Int8(1): UInt16(2)])
        try check([["a"]: true])
        try check(["a": ["b": ["c": Int?.none, "d": 4]]])
        try check(Dictionary(uniqueKeysWithValues: (0..<100).map { ("a rather long key number \($0)", $0) }))
    }

    @Test("Optionals, enums with payloads and structs within one another")
    func nesting() throws {
        try check(Outcome.indirect(.failed("why", code: -7)))
        try check([Outcome.lost(after: nil), .lost(after: 1)])
        try check(Tree.node([.leaf, .node([.node([.leaf])])]))
        try check(Box(value: Box(value: Int?.some(4))))
        try check(Box(value: Outcome?.none))
        try check([Box(value: [Outcome?.some(.done)])])
        try check(
            Reservation(coordinator: NodeID(rawValue: 1), job: "", slots: -1, attempt: 0, weight: -0.0, isLocal: false))
    }

    @Test("Data is bytes, both ways and inside anything")
    func data() throws {
        for count in [0, 1, 14, 15, 300, 4096, 4097, 300_000] {
            let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try check(data)
            #expect(try WireCoder.bytes(data) == WireCoder.bytes([UInt8](data)))
            #expect(
                try WireCoder.roundTrip(["x": [data, data.dropFirst(count / 2)]])["x"]?[1] == data.dropFirst(count / 2))
            #expect(try WireCoder.decode([UInt8].self, from: WireCoder.encode(data)) == [UInt8](data))
            #expect(try WireCoder.decode(ByteBuffer.self, from: WireCoder.encode(data)) == ByteBuffer(bytes: data))
            #expect(try WireCoder.decode(Data.self, from: WireCoder.encode([UInt8](data))) == data)
        }
        // From an array of numbers, as a peer without Foundation may declare it.
        #expect(try WireCoder.decode(Data.self, from: WireCoder.encode([1, 255])) == Data([1, 255]))
        #expect(try WireCoder.decode(Data.self, from: WireCoder.encode([1, 255] as [Int?])) == Data([1, 255]))
        #expect(throws: DecodingError.self) { try WireCoder.decode(Data.self, from: WireCoder.encode([1, 256])) }
        #expect(throws: DecodingError.self) { try WireCoder.decode(Data.self, from: WireCoder.encode("text")) }
    }

    @Test("Data that was decoded may change without changing the message")
    func dataIsACopy() throws {
        let message = try WireCoder.encode([Data(repeating: 7, count: 300_000)])
        var decoded = try WireCoder.decode([Data].self, from: message)
        decoded[0][0] = 1
        decoded[0].append(2)
        #expect(try WireCoder.decode([Data].self, from: message) == [Data(repeating: 7, count: 300_000)])
    }

    @Test("128-bit integers, which JSON takes, are refused with an error wherever they stand")
    func wideIntegers() {
        #expect(throws: EncodingError.self) { try WireCoder.encode(Int128(5)) }
        #expect(throws: EncodingError.self) { try WireCoder.encode(Box(value: UInt128(5))) }
        #expect(throws: EncodingError.self) { try WireCoder.encode(["a": Int128(5)]) }
        #expect(throws: DecodingError.self) { try WireCoder.decode(Int128.self, [0, 5]) }
        #expect(throws: DecodingError.self) { try WireCoder.decode([UInt128].self, from: WireCoder.encode([5])) }
    }
}
