import Foundation
import NIOCore
import Testing
import Transport

/// The format as `docs/PROTOCOL.md` has it. A change here is a change of the protocol.
@Suite("The bytes are those of the protocol")
struct GoldenBytesTests {
    @Test(
        "Integers",
        arguments: [
            (0, [0x00]), (127, [0x7F]), (128, [0xE8, 0x80]), (255, [0xE8, 0xFF]), (256, [0xE9, 0x00, 0x01]),
            (0x12_3456, [0xEA, 0x56, 0x34, 0x12]), (-1, [0xD0]), (-16, [0xDF]), (-17, [0xF0, 0x10]),
            (-256, [0xF0, 0xFF]), (-257, [0xF1, 0x00, 0x01]),
            (.max, [0xEF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
            (.min, [0xF7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        ] as [(Int, [UInt8])])
    func integers(value: Int, bytes: [UInt8]) throws {
        #expect(try WireCoder.bytes(value) == [0] + bytes)
    }

    @Test("Null, booleans and floating-point numbers")
    func scalars() throws {
        #expect(try WireCoder.bytes(Int?.none) == [0, 0xE0])
        #expect(try WireCoder.bytes(false) == [0, 0xE1])
        #expect(try WireCoder.bytes(true) == [0, 0xE2])
        #expect(try WireCoder.bytes(Float(1)) == [0, 0xE3, 0, 0, 0x80, 0x3F])
        #expect(try WireCoder.bytes(1.0) == [0, 0xE3, 0, 0, 0x80, 0x3F])
        #expect(try WireCoder.bytes(0.1) == [0, 0xE4, 0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F])
    }

    @Test("Strings and bytes")
    func text() throws {
        #expect(try WireCoder.bytes("") == [0, 0x80])
        #expect(try WireCoder.bytes("M13") == [0, 0x83, 0x4D, 0x31, 0x33])
        let long = String(repeating: "a", count: 32)
        #expect(try WireCoder.bytes(long) == [0, 0xE5, 32] + Array(long.utf8))
        let longer = String(repeating: "a", count: 300)
        #expect(try WireCoder.bytes(longer) == [0, 0xE5, 0xAC, 0x02] + Array(longer.utf8))
        #expect(try WireCoder.bytes([1, 2] as [UInt8]) == [0, 0xE6, 2, 1, 2])
        #expect(try WireCoder.bytes(ByteBuffer(bytes: [1, 2])) == [0, 0xE6, 2, 1, 2])
        #expect(try WireCoder.bytes(Data([1, 2])) == [0, 0xE6, 2, 1, 2])
    }

    @Test("Packed arrays take the narrowest width that holds all elements")
    func packed() throws {
        #expect(try WireCoder.bytes([Int]()) == [0, 0xC0])
        #expect(try WireCoder.bytes([1, 255]) == [0, 0xF9, 3, 1, 1, 255])
        #expect(try WireCoder.bytes([1, 256]) == [0, 0xF9, 5, 2, 1, 0, 0, 1])
        #expect(try WireCoder.bytes([-1, 127]) == [0, 0xF9, 3, 5, 0xFF, 0x7F])
        #expect(try WireCoder.bytes([-1, 128]) == [0, 0xF9, 5, 6, 0xFF, 0xFF, 0x80, 0])
        #expect(try WireCoder.bytes([Float(1)]) == [0, 0xF9, 5, 9, 0, 0, 0x80, 0x3F])
        #expect(try WireCoder.bytes([1.0]) == [0, 0xF9, 9, 10, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F])
    }

    @Test("Containers")
    func containers() throws {
        #expect(try WireCoder.bytes(["a", "b"]) == [0, 0xC5, 2, 0x81, 0x61, 0x81, 0x62])
        #expect(try WireCoder.bytes(Box(value: 5)) == [1, 5, 0x76, 0x61, 0x6C, 0x75, 0x65, 0xA2, 0, 5])
        // A key is spelled once, however many containers have it.
        #expect(try WireCoder.bytes([["k": 1], ["k": 2]]) == [1, 1, 0x6B, 0xC7, 2, 0xA2, 0, 1, 0xA2, 0, 2])
        #expect(try WireCoder.bytes([String: Int]()) == [0, 0xA0])
        let long = [String(repeating: "a", count: 14)]
        #expect(try WireCoder.bytes(long) == [0, 0xF8, 16, 1, 0x8E] + Array(long[0].utf8))
    }

    @Test("An enum with a payload is a container in a container")
    func enums() throws {
        let bytes = try WireCoder.bytes(Outcome.lost(after: 0.5))
        #expect(
            bytes == [2, 4] + Array("lost".utf8) + [5] + Array("after".utf8) + [
                0xA8, 0, 0xA6, 1, 0xE3, 0, 0, 0, 0x3F,
            ])
    }

    @Test("The example of the protocol document holds")
    func example() throws {
        struct Reservation: Encodable {
            var job = "m13"
            var slots = 4
            var weight = 0.5
        }
        #expect(
            try WireCoder.bytes(Reservation()) == [
                0x03,
                0x03, 0x6A, 0x6F, 0x62,
                0x05, 0x73, 0x6C, 0x6F, 0x74, 0x73,
                0x06, 0x77, 0x65, 0x69, 0x67, 0x68, 0x74,
                0xAD,
                0x00, 0x83, 0x6D, 0x31, 0x33,
                0x01, 0x04,
                0x02, 0xE3, 0x00, 0x00, 0x00, 0x3F,
            ])
    }

    @Test("A struct of six small fields is little more than its keys")
    func size() throws {
        let reservation = Reservation(
            coordinator: NodeID(rawValue: .max), job: "m13", slots: 4, attempt: 1, weight: 0.5, isLocal: true)
        let keys = ["coordinator", "job", "slots", "attempt", "weight", "isLocal"]
        let keyTable = 1 + keys.reduce(0) { $0 + 1 + $1.utf8.count }
        #expect(try WireCoder.bytes(reservation).count == keyTable + 1 + 6 + 9 + 4 + 1 + 1 + 5 + 1)
    }
}
