import Foundation
import NIOCore
import Testing
import Transport

/// `CODEC_SEED` repeats a run, `CODEC_ROUNDS` makes it longer: debug builds take some 50 microseconds a round.
@Suite("Random input")
struct FuzzTests {
    @Test("Random structures survive")
    func randomStructures() throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed(for: "random structures"))
        for _ in 0..<500 {
            let value = RandomValue(using: &generator)
            #expect(try WireCoder.roundTrip(value) == value)
        }
    }

    @Test("Damaged messages decode to a value or throw a coding error")
    func mutations() throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed(for: "mutations"))
        let reservation = Reservation(
            coordinator: NodeID(rawValue: 77), job: "m13", slots: 4, attempt: 1, weight: 0.1, isLocal: true)
        var samples = try [
            Sample(reservation), Sample(Outcome.indirect(.failed("why", code: 300))), Sample(["a", "b", nil]),
            Sample(Tree.node([.leaf, .node([.leaf, .node([])])])), Sample([-1, 300, 70_000]), Sample([0.5, 0.1]),
            Sample(["a": [1: true], "b": [:]]), Sample([Kind.core: ByteBuffer(string: "bytes")]),
            Sample([UInt8](0..<20)), Sample([[Float(1)], [2, 3]]), Sample(Set(["x", "y"])),
            Sample(["data": Data([1, 2, 3])]), Sample(Optional(5)), Sample("text"), Sample(300), Sample(0.1),
            // Enough keys for fields and keys to be found by hashing.
            Sample(Dictionary(uniqueKeysWithValues: (0..<70).map { ("k\($0)", $0) })),
            Sample(Dictionary(uniqueKeysWithValues: (0..<17).map { ("key number \($0)", [$0: "v"]) })),
        ]
        for _ in 0..<10 { samples.append(try Sample(RandomValue(using: &generator, depth: 4))) }
        samples.append(try Sample(Everything()))

        var accepted = 0
        let rounds = ProcessInfo.processInfo.environment["CODEC_ROUNDS"].flatMap(Int.init) ?? 100_000
        for round in 0..<rounds {
            // The last sample is long; it takes part in one round of fifty.
            let sample = samples[round % 50 == 0 ? samples.count - 1 : round % (samples.count - 1)]
            var bytes = sample.bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) { mutate(&bytes, using: &generator) }
            do {
                try sample.decode(ByteBuffer(bytes: bytes))
                accepted += 1
            } catch is WireCodingError {
            } catch is DecodingError {
            } catch {
                Issue.record("round \(round): \(error)")
            }
        }
        print("mutations: \(accepted) of \(rounds) still were messages")
    }

    /// A message, and a decode to its type.
    private struct Sample {
        let bytes: [UInt8]
        let decode: (ByteBuffer) throws -> Void

        init<T: Codable>(_ value: T) throws {
            bytes = try WireCoder.bytes(value)
            decode = { _ = try WireCoder.decode(T.self, from: $0) }
        }
    }

    private func mutate(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return bytes.append(UInt8.random(in: 0...255, using: &generator)) }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes[place] = [0, 0x7F, 0x80, 0xFF, 0xE7, 0xF8, 0xF9].randomElement(using: &generator) ?? 0
        case 3: bytes.removeLast(bytes.count - place)
        case 4: bytes.remove(at: place)
        case 5: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 6:
            let end = Int.random(in: place..<bytes.count, using: &generator)
            bytes.insert(contentsOf: bytes[place...min(end, place + 64)], at: place)
        default: bytes.swapAt(place, Int.random(in: 0..<bytes.count, using: &generator))
        }
    }
}
