/// A scalar of `Codable` that the format knows itself.
protocol WirePrimitive {
    /// The value that `wire` stands for; nil when `wire` is of another kind or does not fit.
    static func read(_ wire: WireValue, from reader: WireReader) throws -> Self?
}

/// The scalars that are all in a `WireValue`.
protocol WireNumber: WirePrimitive {
    static func read(_ wire: WireValue) -> Self?
}

extension WireNumber {
    static func read(_ wire: WireValue, from reader: WireReader) throws -> Self? { read(wire) }
}

extension Bool: WireNumber {
    static func read(_ wire: WireValue) -> Bool? {
        if case .bool(let value) = wire { value } else { nil }
    }
}

extension String: WirePrimitive {
    static func read(_ wire: WireValue, from reader: WireReader) throws -> String? {
        if case .string(let range) = wire { try reader.text(range) } else { nil }
    }
}

extension Float: WireNumber {
    /// Accepts integers and doubles that a `Float` holds exactly, and any NaN.
    static func read(_ wire: WireValue) -> Float? {
        switch wire {
        case .float(let value): value
        case .double(let value): value.isNaN ? Float(value) : Float(exactly: value)
        case .unsigned(let value): Float(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Float(exactly: ~$0) }
        default: nil
        }
    }
}

extension Double: WireNumber {
    /// Accepts every `Float`, and the integers that a `Double` holds exactly.
    static func read(_ wire: WireValue) -> Double? {
        switch wire {
        case .double(let value): value
        case .float(let value): Double(value)
        case .unsigned(let value): Double(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Double(exactly: ~$0) }
        default: nil
        }
    }
}

extension Int: WireNumber {}
extension Int8: WireNumber {}
extension Int16: WireNumber {}
extension Int32: WireNumber {}
extension Int64: WireNumber {}
extension UInt: WireNumber {}
extension UInt8: WireNumber {}
extension UInt16: WireNumber {}
extension UInt32: WireNumber {}
extension UInt64: WireNumber {}

extension WireNumber where Self: FixedWidthInteger {
    static func read(_ wire: WireValue) -> Self? {
        switch wire {
        case .unsigned(let value): Self(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Self(exactly: ~$0) }
        default: nil
        }
    }
}
