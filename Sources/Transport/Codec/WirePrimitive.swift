/// A scalar of `Codable` that the format knows itself.
protocol WirePrimitive {
    /// The most bytes that `write(to:)` appends.
    var byteCountBound: Int { get }

    /// Appends the shortest form of the value.
    func write(to bytes: inout [UInt8])

    /// The value that `wire` stands for; nil when that is of another kind or does not fit.
    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> Self?
}

extension WirePrimitive {
    var byteCountBound: Int { 16 }
}

/// The absence of a value.
struct WireNull: WirePrimitive {
    func write(to bytes: inout [UInt8]) {
        bytes.append(WireTag.null)
    }

    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> WireNull? {
        if case .null = wire { WireNull() } else { nil }
    }
}

extension Bool: WirePrimitive {
    func write(to bytes: inout [UInt8]) {
        bytes.append(self ? WireTag.true : WireTag.false)
    }

    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> Bool? {
        if case .bool(let value) = wire { value } else { nil }
    }
}

extension String: WirePrimitive {
    var byteCountBound: Int { 16 + utf8.count }

    func write(to bytes: inout [UInt8]) {
        let count = utf8.count
        if count < WireTag.shortString.count {
            bytes.append(WireTag.shortString.lowerBound + UInt8(count))
        } else {
            bytes.append(WireTag.string)
            bytes.appendVarint(count)
        }
        bytes.append(contentsOf: utf8)
    }

    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> String? {
        if case .string(let range) = wire { try message.text(range) } else { nil }
    }
}

extension Float: WirePrimitive {
    func write(to bytes: inout [UInt8]) {
        bytes.append(WireTag.float)
        bytes.appendInteger(bitPattern)
    }

    /// Accepts integers and doubles that a `Float` holds exactly, and any NaN.
    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> Float? {
        switch wire {
        case .float(let value): value
        case .double(let value): value.isNaN ? Float(value) : Float(exactly: value)
        case .unsigned(let value): Float(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Float(exactly: ~$0) }
        default: nil
        }
    }
}

extension Double: WirePrimitive {
    /// A double that a `Float` holds exactly takes the bytes of one. NaN keeps its payload by not taking part.
    func write(to bytes: inout [UInt8]) {
        if let short = Float(exactly: self) {
            short.write(to: &bytes)
        } else {
            bytes.append(WireTag.double)
            bytes.appendInteger(bitPattern)
        }
    }

    /// Accepts every `Float`, and the integers that a `Double` holds exactly.
    static func read(_ wire: WireValue, in message: DecodingMessage) throws -> Double? {
        switch wire {
        case .double(let value): value
        case .float(let value): Double(value)
        case .unsigned(let value): Double(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Double(exactly: ~$0) }
        default: nil
        }
    }
}
