import Foundation
import NIOCore
import Testing
import Transport

@Suite("What goes in comes out")
struct RoundTripTests {
    /// The value must survive this coder, and Foundation's coder must agree with what it becomes.
    private func check<T: Codable & Equatable>(
        _ value: T,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let ours = try WireCoder.roundTrip(value)
        let theirs = try JSONDecoder().decode(Box<T>.self, from: JSONEncoder().encode(Box(value: value))).value
        #expect(ours == value, sourceLocation: location)
        #expect(ours == theirs, sourceLocation: location)
    }

    @Test("Every kind of field survives, as it does in JSON")
    func everything() throws {
        try check(Everything())
        try check([Everything(), Everything()])
        try check(["x": Everything()])
    }

    @Test("Integers survive at every width's edges")
    func integers() throws {
        func edges<I: FixedWidthInteger & Codable>(_ type: I.Type) throws {
            var values: Set<I> = [.min, .max, 0, 1]
            for shift in 0..<I.bitWidth {
                let power = I(truncatingIfNeeded: 1 as UInt64) << I(truncatingIfNeeded: shift)
                for value in [power, power &- 1, 0 &- power, ~power, 1 &- power] { values.insert(value) }
            }
            for value in values {
                try check(value)
                try check([value])
            }
            try check(Array(values))
            try check(values)
        }
        try edges(Int.self)
        try edges(Int8.self)
        try edges(Int16.self)
        try edges(Int32.self)
        try edges(Int64.self)
        try edges(UInt.self)
        try edges(UInt8.self)
        try edges(UInt16.self)
        try edges(UInt32.self)
        try edges(UInt64.self)
    }

    @Test(
        "Doubles survive bit by bit",
        arguments: [
            0, 0x8000_0000_0000_0000, 1, 0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0000,
            0x7FF8_0000_DEAD_BEEF, 0x7FF0_0000_0000_0001, 0xFFFF_FFFF_FFFF_FFFF, 0x3FF0_0000_0000_0000,
            0x3FB9_9999_9999_999A, 0x36A0_0000_0000_0000, 0x47EF_FFFF_E000_0000, 0x7FFC_0000_0000_0000,
        ] as [UInt64])
    func doubles(bits: UInt64) throws {
        let value = Double(bitPattern: bits)
        #expect(try WireCoder.roundTrip(value).bitPattern == bits)
        #expect(try WireCoder.roundTrip([value, 1]).map(\.bitPattern) == [bits, 1.0.bitPattern])
        #expect(try WireCoder.roundTrip([value, nil])[0]?.bitPattern == bits)
    }

    @Test(
        "Floats survive bit by bit",
        arguments: [
            0, 0x8000_0000, 1, 0x7F80_0000, 0x7FC0_0000, 0x7FC0_BEEF, 0x7F80_0001, 0xFFFF_FFFF, 0x3DCC_CCCD,
        ] as [UInt32])
    func floats(bits: UInt32) throws {
        let value = Float(bitPattern: bits)
        #expect(try WireCoder.roundTrip(value).bitPattern == bits)
        #expect(try WireCoder.roundTrip([value, 1]).map(\.bitPattern) == [bits, Float(1).bitPattern])
        #expect(try WireCoder.roundTrip(["x": value])["x"]?.bitPattern == bits)
    }

    @Test("Text of any length survives")
    func text() throws {
        for count in [0, 1, 15, 16, 31, 32, 127, 128, 300, 20_000] {
            try check(String(repeating: "a", count: count))
            try check(String(repeating: "é", count: count / 2))
        }
        try check("nul \0, combining e\u{301}, flags 🇨🇭, right-to-left \u{202E}")
    }

    @Test("Dictionaries survive with keys of any type")
    func dictionaries() throws {
        try check([String: Int]())
        try check(["": 0, "1": 1, "01": 2, "+1": 3, "a": 4])
        try check([1: "a", -1: "b", .min: "c"])
        try check([Kind.core: 1, .margin: 2])
        try check([UInt8(3): [Int8(1): true]])
        try check(Dictionary(uniqueKeysWithValues: (0..<5000).map { ("key \($0)", $0) }))
        try check(Dictionary(uniqueKeysWithValues: (0..<500).map { ($0, [$0: "v"]) }))
    }

    @Test("Optionals survive at the top, in arrays and nested")
    func optionals() throws {
        #expect(try WireCoder.roundTrip(Int?.none) == nil)
        #expect(try WireCoder.roundTrip(Int?.some(3)) == 3)
        #expect(try WireCoder.roundTrip([[Int?]?]([nil, [], [nil, 2]])) == [nil, [], [nil, 2]])
        try check([nil, Reservation?.none])
    }

    @Test("Enums with payloads survive")
    func enums() throws {
        try check([Outcome.done, .failed("", code: 0), .lost(after: 0.5), .indirect(.indirect(.done))])
        try check(Tree.node([.leaf, .node([]), .node([.leaf])]))
    }

    @Test("Bytes survive, and a buffer shares the storage of the message")
    func bytes() throws {
        for count in [0, 1, 4096, 4097, 100_000] {
            let array = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            #expect(try WireCoder.roundTrip(array) == array)
            let buffers = ["x": [ByteBuffer(bytes: array)]]
            #expect(try WireCoder.roundTrip(buffers) == buffers)
        }
        let message = try WireCoder.encode(ByteBuffer(repeating: 7, count: 10_000))
        let payload = try WireCoder.decode(ByteBuffer.self, from: message)
        let messageRange = message.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let payloadStart = payload.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        #expect((messageRange..<messageRange + UInt(message.readableBytes)).contains(payloadStart))
    }

    @Test("A message is read from wherever the buffer's reader is, and written behind what is there")
    func positions() throws {
        var buffer = ByteBuffer(string: "head")
        try WireCoder.encode(Box(value: ByteBuffer(string: "body")), into: &buffer)
        #expect(buffer.readString(length: 4) == "head")
        #expect(try WireCoder.decode(Box<ByteBuffer>.self, from: buffer).value == ByteBuffer(string: "body"))
    }
}
