import NIOCore

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// A job as a client of the HTTP interface submits it: JSON, with hostile values in the fields that there are.
enum BodyTarget: FuzzTarget {
    static let name = "body"
    static let limit = RunLimit.brief

    private static let simulation = ValueTree.object([
        .init(key: "kind", value: .text("simulate")), .init(key: "tasks", value: .integer(20)),
        .init(key: "seconds", value: .real(1.5)), .init(key: "priority", value: .integer(3)),
        .init(key: "retries", value: .integer(2)), .init(key: "token", value: .text("night 7")),
    ])
    private static let scan = ValueTree.object([
        .init(key: "kind", value: .text("scan")), .init(key: "path", value: .text("/data/m13.fits")),
        .init(key: "hdu", value: .integer(1)), .init(key: "priority", value: .integer(-3)),
    ])
    private static let options: [ValueTree.Field] = [
        .init(key: "threshold", value: .real(2.5)), .init(key: "min-area", value: .integer(5)),
        .init(key: "filter", value: .text("gauss:2.5")), .init(key: "sector", value: .integer(1024)),
        .init(key: "margin", value: .integer(64)), .init(key: "mesh", value: .integer(64)),
        .init(key: "apertures", value: .text("4,10,20")), .init(key: "zero-point", value: .real(25.1)),
        .init(key: "gain", value: .real(1.5)), .init(key: "saturation", value: .integer(60_000)),
        .init(key: "preset", value: .text("faint")),
    ]

    static func run(_ input: FuzzInput) {
        var input = input
        let choice = input.byte()
        var tree = choice & 1 == 0 ? simulation : scan
        if choice & 6 == 6, case .object(var fields) = tree {
            let options = (0...input.byte() & 1).map { _ in input.choice(of: BodyTarget.options) }
            fields.append(.init(key: "options", value: .object(options)))
            tree = .object(fields)
        }
        for _ in 0..<choice >> 6 { tree.damage(&input) }
        var text = JSONText()
        text.write(tree, &input)
        take(text.bytes)
    }

    private static func take(_ bytes: [UInt8]) {
        let body: JobBody
        do {
            body = try JobBody(ByteBuffer(bytes: bytes))
            let submission = try body.submission()
            try submission.validate()
            // It is stored as it is, and read again at a start.
            let stored = try JournalText.encode(submission.request)
            let read = try JournalText.decode(JobRequest.self, stored)
            try read.validate()
            require((try? JournalText.encode(read)) == stored, "a token finds the same request again")
            require(!submission.request.title.isEmpty, "a job has a title")
        } catch {
            let failure = APIFailure(error)
            require(failure.status.code < 500, "a mistake is the client's: \(failure.message)")
            require(failure.message.utf8.count < 4096, "a short complaint: \(failure.message)")
        }
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for kind in UInt8(0)..<8 {
            seeds.append([kind])
            seeds.append([kind | 64, 1, 0, 1, 5])
            seeds.append([kind | 128, 1, 0, 3, 9, 1, 0, 4, 7])
        }
        for option in UInt8(0)..<11 { seeds.append([7, 0, option]) }
        return seeds
    }
}

/// JSON, with the words for numbers that a decoder may meet.
private struct JSONText {
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
