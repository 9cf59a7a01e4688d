import NIOCore

@testable import Transport

/// Reads any bytes as a message of many types. The result is a value that survives being written again, or an error that says
/// nothing unclean. The bytes stand among poisoned ones, so that a read beyond them is found even inside one allocation.
enum DecodingTarget: FuzzTarget {
    static let name = "decoding"

    static func run(_ input: FuzzInput) {
        var input = input
        let check = checks[Int(input.byte()) % checks.count]
        let limits = limits(input.byte())
        check(&input, limits)
    }

    private typealias Check = @Sendable (inout FuzzInput, DecodingLimits) -> Void

    private static let checks: [Check] = [
        same(Everything.self), same(Hello.self), same(Refusal.self), same(RemoteError.self),
        equal([NodeAddress].self), equal([String: Int?].self), equal([Int: [Bool]].self), equal(Set<String>.self),
        same([Int].self), same([Double].self), same([Float].self), same([[Int16?]].self), same([UInt8].self),
        same(ByteBuffer.self), same(String.self), same([Duration?].self), same(Tree.self), same(CallFailure.self),
        same([UInt64].self), same(Double.self), same(Int8?.self), equal([Tree: ByteBuffer].self), same(AnyMessage.self),
        walk,
    ]

    private static func limits(_ choice: UInt8) -> DecodingLimits {
        var limits = DecodingLimits()
        if choice & 1 != 0 { limits.depth = Int(choice >> 4) }
        if choice & 2 != 0 { limits.elements = Int(choice >> 3) }
        if choice & 4 != 0 { limits.stringBytes = Int(choice >> 3) }
        if choice & 8 != 0 { limits.keys = Int(choice >> 4) }
        return limits
    }

    // MARK: - One value

    /// The check for types that are written the same way every time: the same bytes come again.
    private static func same<T: Codable>(_ type: T.Type) -> Check {
        { input, limits in
            let message = Message(input.rest())
            guard let value = message.decode(type, limits) else { return }
            let once = encode(value)
            let again = Message(once.array)
            guard let second = again.decode(type, .init()) else {
                fatalError("does not hold: readable again: \(value)")
            }
            require(encode(second) == once, "the same bytes again: \(value)")
        }
    }

    /// The check for types whose order is chance: an equal value comes again.
    private static func equal<T: Codable & Equatable>(_ type: T.Type) -> Check {
        { input, limits in
            let message = Message(input.rest())
            guard let value = message.decode(type, limits) else { return }
            let again = Message(encode(value).array)
            require(again.decode(type, .init()) == value, "an equal value again: \(value)")
        }
    }

    private static func encode(_ value: some Encodable) -> ByteBuffer {
        do {
            return try WireCoder.encode(value)
        } catch {
            fatalError("does not hold: what was read can be written: \(value): \(error)")
        }
    }

    // MARK: - A type that does as the input says

    private static func walk(_ input: inout FuzzInput, _ limits: DecodingLimits) {
        let steps = input.field()
        let message = Message(input.rest())
        Walker.walk = Walk(steps: steps)
        message.decode(Walker.self, limits, walks: true)
        let kept = Walker.walk
        // This is another message, which may be read by the same state.
        Walker.walk = Walk(steps: [])
        _ = try? WireCoder.decode([String: Int].self, from: ByteBuffer(bytes: [1, 1, 97, 0xA2, 0, 5]))
        kept.useAfterwards()
        let again = try? WireCoder.decode([String: Int].self, from: ByteBuffer(bytes: [1, 1, 97, 0xA2, 0, 5]))
        require(again == ["a": 5], "a message is read alike whatever was kept of others")
    }

    static func seeds() throws -> [[UInt8]] {
        let types: [(UInt8, any Encodable)] = [
            (0, Everything()), (1, Samples.hello), (2, Refusal(.duplicate, "one", by: NodeID(rawValue: 7))),
            (3, RemoteError(.busy, "busy")), (4, [NodeAddress("a:1"), NodeAddress("[::1]:2")]),
            (5, ["a": 1, "b": nil]),
            (6, [1: [true], -7: []]), (7, Set(["x", "yy"])), (8, [-1, 300, 70_000]), (9, [0.5, 0.1]),
            (10, [Float(1), 2]), (11, [[1, nil, -300], []]), (12, [UInt8](0..<40)),
            (13, ByteBuffer(string: "some bytes")), (14, "M 13, Hercules \u{2609}"),
            (15, [.seconds(1), nil] as [Duration?]), (16, Tree.node([.leaf, .node([.leaf])])),
            (17, CallFailure(kind: .failed, message: "why", error: "e", value: ByteBuffer(string: "v"))),
            (18, [UInt64.max, 1]), (19, 0.1), (20, Int8?.none), (21, [Tree.leaf: ByteBuffer(string: "x")]),
            (22, Everything()),
        ]
        func seed(_ check: UInt8, _ value: some Encodable) throws -> [UInt8] {
            try [check, 0] + WireCoder.encode(value).array
        }
        let values = try types.map { try seed($0, $1) }
        let walk: [UInt8] = [23, 0, 12, 0, 3, 0, 1, 3, 1, 2, 7, 2, 1, 12, 13, 0]
        return try values + [walk + WireCoder.encode(Everything()).array]
    }
}

/// A message whose neighbours in memory must not be read.
private struct Message {
    private let bytes: [UInt8]
    private let buffer: ByteBuffer
    private let offset = 8

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var buffer = ByteBuffer()
        buffer.reserveCapacity(offset + bytes.count + 24)
        buffer.writeRepeatingByte(0xA5, count: offset)
        buffer.writeBytes(bytes)
        buffer.moveReaderIndex(forwardBy: offset)
        self.buffer = buffer
    }

    /// Decodes the message; `nil` where the bytes are no such value. Every other error is a finding.
    @discardableResult
    func decode<T: Decodable>(_ type: T.Type, _ limits: DecodingLimits, walks: Bool = false) -> T? {
        poison()
        defer { unpoison() }
        do {
            return try WireCoder.decode(type, from: buffer, limits: limits)
        } catch let error as WireCodingError {
            require(isClean(error.description), "a clean reason: \(error)")
        } catch let error as DecodingError {
            checkClean(error)
        } catch {
            fatalError("does not hold: an error of decoding: \(error)")
        }
        return nil
    }

    private func checkClean(_ error: DecodingError) {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let its), .valueNotFound(_, let its), .dataCorrupted(let its): context = its
        case .keyNotFound(let key, let its):
            require(isClean(key.stringValue), "a clean key")
            context = its
        @unknown default: return
        }
        require(
            isClean(context.debugDescription) && context.debugDescription.utf8.count < 256, "clean words: \(context)")
        require(context.codingPath.count <= 300, "a path of bounded length")
        for key in context.codingPath { require(isClean(key.stringValue), "a clean path: \(context.codingPath)") }
    }

    private func isClean(_ text: String) -> Bool {
        !text.utf8.contains { $0 < 32 || $0 > 126 }
    }

    // MARK: - Poison

    private func poison() { forNeighbours(poisonMemory) }
    private func unpoison() { forNeighbours(unpoisonMemory) }

    private func forNeighbours(_ body: (UnsafeRawPointer, Int) -> Void) {
        buffer.withVeryUnsafeBytes { all in
            guard let start = all.baseAddress else { return }
            let first = buffer.readerIndex
            body(start, first)
            body(start + first + bytes.count, all.count - first - bytes.count)
        }
    }
}

/// AddressSanitizer's marks for memory that may not be touched (llvm, asan_interface.h).
@_silgen_name("__asan_poison_memory_region")
private func poisonMemory(_ start: UnsafeRawPointer, _ count: Int)

@_silgen_name("__asan_unpoison_memory_region")
private func unpoisonMemory(_ start: UnsafeRawPointer, _ count: Int)
