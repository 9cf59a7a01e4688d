import Foundation
import NIOCore
import Testing
import Transport

@Suite("A limit on what is encoded")
struct EncodingLimitTests {
    private func check<T: Codable & Equatable>(_ value: T, _ location: SourceLocation = #_sourceLocation) throws {
        let count = try WireCoder.encode(value).readableBytes
        var buffer = ByteBuffer(string: "head")
        for limit in [-1, 0, 1, count / 2, count - 1] {
            let tooLong = WireCodingError.limitExceeded("message bytes", limit: limit)
            #expect(throws: tooLong, sourceLocation: location) {
                try WireCoder.encode(value, into: &buffer, limit: limit)
            }
            #expect(buffer == ByteBuffer(string: "head"), sourceLocation: location)
        }
        try WireCoder.encode(value, into: &buffer, limit: count)
        #expect(buffer.readableBytes == 4 + count, sourceLocation: location)
        buffer.moveReaderIndex(forwardBy: 4)
        #expect(try WireCoder.decode(T.self, from: buffer) == value, sourceLocation: location)
    }

    @Test("A message of exactly the limit is made, one of a byte more is not")
    func exact() throws {
        try check(300)
        try check("text")
        try check(String(repeating: "a", count: 1000))
        try check([UInt8](repeating: 1, count: 5000))
        try check(Data(repeating: 1, count: 100))
        try check([0.5, 1])
        try check([Int]())
        try check(["a", "b", nil])
        try check(Everything())
        try check([ByteBuffer(repeating: 1, count: 5000), ByteBuffer(repeating: 2, count: 10)])
        try check(["key": [1.5, 2.5], "other": []])
        try check(Tree.node([.leaf, .leaf, .node([])]))
    }

    @Test("A value far beyond the limit is refused before it is built")
    func early() {
        /// Would never end by itself.
        struct Endless: Encodable {
            let element: @Sendable (inout any UnkeyedEncodingContainer) throws -> Void
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                while true { try element(&container) }
            }
        }
        struct Nothing: Encodable {
            func encode(to encoder: any Encoder) {}
        }
        let chunk = ByteBuffer(repeating: 7, count: 1 << 20)
        let elements: [@Sendable (inout any UnkeyedEncodingContainer) throws -> Void] = [
            { try $0.encode(1) }, { try $0.encode("text") }, { try $0.encode(chunk) }, { try $0.encode(Nothing()) },
            { try $0.encode([1.5, 2]) }, { try $0.encode(Kind.core) }, { try $0.encode(["a"]) },
            { try $0.encodeNil() },
        ]
        var buffer = ByteBuffer()
        for element in elements {
            #expect(throws: WireCodingError.limitExceeded("message bytes", limit: 100_000)) {
                try WireCoder.encode(Endless(element: element), into: &buffer, limit: 100_000)
            }
        }
        #expect(buffer.readableBytes == 0)
    }

    @Test("An error on the way is the error of the encode, and the next encode knows nothing of it")
    func recovery() throws {
        struct Failure: Error {}
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode("left over")
                throw Failure()
            }
        }
        let expected = try WireCoder.bytes(Everything().outcomes)
        for _ in 0..<3 {
            #expect(throws: Failure.self) { try WireCoder.encode(["key": Failing()]) }
            #expect(try WireCoder.bytes(Everything().outcomes) == expected)
        }
    }
}
