/// JSON, with the words for numbers that a decoder may meet.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ tree: ValueTree, _ input: inout FuzzInput) {
        switch tree {
        case .null: bytes += "null".utf8
        case .flag(let value): bytes += "\(value)".utf8
        case .integer(let value): bytes += "\(value)".utf8
        case .unsigned(let value): bytes += "\(value)".utf8
        case .real(let value):
            // JSON has no words for these: a client may send numbers that come to the same.
            bytes += (value.isNaN ? "null" : value.isInfinite ? (value < 0 ? "-1e999" : "1e999") : "\(value)").utf8
        case .text(let text): write(text)
        case .bytes(let bytes): write(String(decoding: bytes, as: UTF8.self))
        case .reals(let reals): write(.list(reals.map { .real($0) }), &input)
        case .list(let values):
            bytes += "[".utf8
            for (place, value) in values.enumerated() {
                if place > 0 { bytes += ",".utf8 }
                write(value, &input)
            }
            bytes += "]".utf8
        case .object(let fields):
            bytes += "{".utf8
            for (place, field) in fields.enumerated() {
                if place > 0 { bytes += ",".utf8 }
                write(field.key)
                bytes += ":".utf8
                write(field.value, &input)
            }
            bytes += "}".utf8
        }
    }

    private mutating func write(_ text: String) {
        bytes += "\"".utf8
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<32:
                let digits = String(byte, radix: 16)
                bytes += "\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8
            default: bytes.append(byte)
            }
        }
        bytes += "\"".utf8
    }
}
