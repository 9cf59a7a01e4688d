import NIOCore

@testable import Transport

/// A type that reads itself in any way at all: containers in any order, keys that are not there, values of other
/// types, errors swallowed, decoders kept beyond the end.
struct Walker: Decodable {
    /// The walk under way. The fuzzer has one thread.
    nonisolated(unsafe) static var walk = Walk(steps: [])

    init(from decoder: any Decoder) throws {
        try Walker.walk.go(decoder)
    }
}

/// A key that holds any text and any number.
struct AnyKey: CodingKey, Hashable {
    var stringValue: String
    var intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = Int(stringValue)
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

/// The steps of a walk and what it has come by. It is a class, because values decoded on the way take steps of the same walk.
final class Walk {
    private var steps: ArraySlice<UInt8>
    private var depth = 0
    private var decoders: [any Decoder] = []
    private var keyed: [KeyedDecodingContainer<AnyKey>] = []
    private var unkeyed: [any UnkeyedDecodingContainer] = []

    init(steps: [UInt8]) {
        self.steps = steps[...]
    }

    private func step() -> UInt8 { steps.popFirst() ?? 0 }

    func go(_ decoder: any Decoder) throws {
        depth += 1
        defer { depth -= 1 }
        decoders.append(decoder)
        let reached = (keyed.count, unkeyed.count)
        while !steps.isEmpty {
            let step = step()
            if step & 15 == 15 { break }
            do {
                try take(step, decoder)
            } catch is WireCodingError {
            } catch is DecodingError {
            } catch {
                fatalError("does not hold: an error of decoding: \(error)")
            }
        }
        if depth > 1 {
            // Now and then, values further out use containers of values further in.
            keyed.removeLast(max(0, keyed.count - reached.0 - 1))
            unkeyed.removeLast(max(0, unkeyed.count - reached.1 - 1))
        }
    }

    private func take(_ step: UInt8, _ decoder: any Decoder) throws {
        let choice = Int(step >> 4)
        switch step & 15 {
        case 0: keyed.append(try decoder.container(keyedBy: AnyKey.self))
        case 1: unkeyed.append(try decoder.unkeyedContainer())
        case 2: try single(decoder.singleValueContainer(), choice)
        case 3...8: try read(keyed: step & 15, choice)
        case 9...12: try read(unkeyed: step & 15, choice)
        case 13: _ = decoder.codingPath.count
        default: _ = try? WireCoder.decode([String: Int].self, from: .init(bytes: [1, 1, 98, 0xA2, 0, 5]))
        }
    }

    private func single(_ container: any SingleValueDecodingContainer, _ choice: Int) throws {
        switch choice & 7 {
        case 0: _ = container.decodeNil()
        case 1: _ = try container.decode(Int.self)
        case 2: _ = try container.decode(String.self)
        case 3: _ = try container.decode(Double.self)
        case 4: _ = try container.decode([UInt8].self)
        case 5: _ = try container.decode(AnyMessage.self)
        case 6: _ = try container.decode([UInt16].self)
        default: _ = try container.decode(Walker.self)
        }
    }

    private func read(keyed step: UInt8, _ choice: Int) throws {
        guard !keyed.isEmpty else { return }
        let container = keyed[Int(self.step()) % keyed.count]
        let keys = container.allKeys
        let wanted = Int(self.step())
        let key = wanted < keys.count ? keys[wanted] : AnyKey(stringValue: wanted & 1 == 0 ? "a" : "super")
        require(wanted >= keys.count || container.contains(key), "a key of the container is contained")
        switch step {
        case 3: try read(container, key, choice)
        case 4: _ = try container.decodeNil(forKey: key)
        case 5: keyed.append(try container.nestedContainer(keyedBy: AnyKey.self, forKey: key))
        case 6: unkeyed.append(try container.nestedUnkeyedContainer(forKey: key))
        case 7: try descend(choice & 1 == 0 ? container.superDecoder(forKey: key) : container.superDecoder())
        default: require(container.contains(key) || wanted >= keys.count, "contained")
        }
    }

    private func read(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey, _ choice: Int) throws {
        switch choice & 7 {
        case 0: _ = try container.decodeIfPresent(Bool.self, forKey: key)
        case 1: _ = try container.decode(Int.self, forKey: key)
        case 2: _ = try container.decode(String.self, forKey: key)
        case 3: _ = try container.decodeIfPresent(Float.self, forKey: key)
        case 4: _ = try container.decode([String: [Int]].self, forKey: key)
        case 5: _ = try container.decode(AnyMessage.self, forKey: key)
        case 6: _ = try container.decode([UInt16].self, forKey: key)
        default: _ = try container.decode(Walker.self, forKey: key)
        }
    }

    private func read(unkeyed step: UInt8, _ choice: Int) throws {
        guard !unkeyed.isEmpty else { return }
        let place = Int(self.step()) % unkeyed.count
        // The container is taken out, as nested values change the list.
        var container = unkeyed[place]
        let before = container.currentIndex
        let wasAtEnd = container.isAtEnd
        require(wasAtEnd == (before >= (container.count ?? 0)), "at the end when all is read")
        defer { if place < unkeyed.count { unkeyed[place] = container } }
        do {
            switch step {
            case 9: try read(&container, choice)
            case 10: unkeyed.append(try container.nestedUnkeyedContainer())
            case 11: keyed.append(try container.nestedContainer(keyedBy: AnyKey.self))
            default: try descend(container.superDecoder())
            }
        } catch {
            require(container.currentIndex == before || step == 12, "what cannot be read stays the next")
            throw error
        }
        // `decodeIfPresent` finds nothing there.
        require(!wasAtEnd || step == 9 && choice & 7 == 4, "nothing behind the end")
    }

    private func read(_ container: inout any UnkeyedDecodingContainer, _ choice: Int) throws {
        switch choice & 7 {
        case 0: _ = try container.decodeNil()
        case 1: _ = try container.decode(Int.self)
        case 2: _ = try container.decode(String.self)
        case 3: _ = try container.decode(Double.self)
        case 4: _ = try container.decodeIfPresent([UInt8].self)
        case 5: _ = try container.decode(AnyMessage.self)
        case 6: _ = try container.decode([UInt16].self)
        default: _ = try container.decode(Walker.self)
        }
    }

    private func descend(_ decoder: any Decoder) throws {
        guard depth < 20 else { return }
        try go(decoder)
    }

    /// Uses everything that was kept, once the message is gone.
    func useAfterwards() {
        for decoder in decoders.suffix(8) {
            _ = decoder.codingPath
            require((try? decoder.container(keyedBy: AnyKey.self))?.allKeys.isEmpty != false, "no keys afterwards")
            _ = try? decoder.unkeyedContainer()
            let text = try? decoder.singleValueContainer().decode(String.self)
            require(text?.isEmpty != false, "no text afterwards: \(text ?? "")")
        }
        for container in keyed.suffix(8) {
            _ = container.codingPath
            for key in container.allKeys {
                let text = try? container.decode(String.self, forKey: key)
                require(text?.isEmpty != false, "no text afterwards: \(text ?? "")")
                _ = try? container.nestedUnkeyedContainer(forKey: key)
            }
        }
        for var container in unkeyed.suffix(8) {
            _ = container.codingPath
            for _ in 0..<min(4, (container.count ?? 0) - container.currentIndex) {
                require((try? container.decode(String.self))?.isEmpty != false, "no text afterwards")
                _ = try? container.decode(Int.self)
                _ = try? container.superDecoder()
            }
        }
    }
}
