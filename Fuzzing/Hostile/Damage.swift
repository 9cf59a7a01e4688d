/// Puts hostile values into what an honest peer would have sent, in single places. All else is right, so that the whole comes
/// through the door where anything can.
extension ValueTree {
    /// Does some damage, or none.
    mutating func damage(_ input: inout FuzzInput) {
        let choice = input.byte()
        // Half of the values stay honest, so that the code behind their checks is reached too.
        guard choice & 1 == 1 else { return }
        for _ in 0...(choice & 0xC0 == 0xC0 ? 3 : 0) {
            var place = Int(input.integer(UInt16.self)) % count
            damage(place: &place, &input)
        }
    }

    private mutating func damage(place: inout Int, _ input: inout FuzzInput) {
        if place == 0 {
            place = -1
            return replace(&input)
        }
        place -= 1
        switch self {
        case .list(var values):
            for index in values.indices where place >= 0 { values[index].damage(within: &place, &input) }
            self = .list(values)
        case .object(var fields):
            for index in fields.indices where place >= 0 { fields[index].value.damage(within: &place, &input) }
            self = .object(fields)
        default: break
        }
    }

    private mutating func damage(within place: inout Int, _ input: inout FuzzInput) {
        let count = count
        guard place < count else {
            place -= count
            return
        }
        damage(place: &place, &input)
    }

    private mutating func replace(_ input: inout FuzzInput) {
        switch self {
        case .null: self = .integer(input.hostileInteger())
        case .flag(let value): self = .flag(!value)
        case .integer(let value):
            let choice = input.byte()
            self = .integer(
                choice < 200 ? input.hostileInteger() : choice < 228 ? value &+ 1 : value &- 1)
        case .unsigned: self = .unsigned(input.hostileUnsigned())
        case .real: self = .real(input.hostileReal())
        case .text: self = .text(input.hostileText())
        case .bytes(let bytes): self = .bytes(ValueTree.damaged(bytes, &input))
        case .reals(var reals):
            switch input.byte() & 7 {
            case 0: reals = []
            case 1: reals = reals.dropLast()
            case 2: reals += reals
            default:
                guard !reals.isEmpty else { break }
                for _ in 0...input.byte() & 3 {
                    reals[Int(input.integer(UInt16.self)) % reals.count] = input.hostileReal()
                }
            }
            self = .reals(reals)
        case .list(var values):
            switch input.byte() & 7 {
            case 0: values = []
            case 1: values = values.dropLast()
            case 2: values = Array(values.dropFirst())
            case 3: values.reverse()
            case 4: values += values
            case 5: if let first = values.first { values += Array(repeating: first, count: 40) }
            default: if let first = values.first { values.append(first) }
            }
            self = .list(values)
        case .object(var fields):
            guard !fields.isEmpty else { return }
            fields.remove(at: Int(input.byte()) % fields.count)
            self = .object(fields)
        }
    }

    /// Damages bytes. These often are numbers of four bytes, so some of them are damaged as such.
    private static func damaged(_ bytes: [UInt8], _ input: inout FuzzInput) -> [UInt8] {
        var bytes = bytes
        switch input.byte() & 7 {
        case 0: return []
        case 1: return bytes.dropLast()
        case 2: return bytes + bytes
        case 3: return input.field()
        default:
            for _ in 0...input.byte() & 3 where bytes.count >= 4 {
                let start = Int(input.integer(UInt16.self)) % (bytes.count / 4) * 4
                let bits = Float(input.hostileReal()).bitPattern
                for byte in 0..<4 { bytes[start + byte] = UInt8(truncatingIfNeeded: bits >> UInt32(8 * byte)) }
            }
            return bytes
        }
    }
}

extension FuzzInput {
    /// A value as a peer might send it: the sample, or the sample with hostile values in it. `nil` where that could not be
    /// decoded.
    mutating func hostile<Value: Codable>(_ sample: Value) -> Value? {
        // Most values are honest, which costs nothing.
        guard let choice = peek, choice & 1 == 1 else {
            _ = byte()
            return sample
        }
        guard var tree = try? ValueTree(sample) else { return nil }
        tree.damage(&self)
        return try? tree.decoded()
    }
}
