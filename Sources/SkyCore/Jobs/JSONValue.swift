import Base
import Foundation
import NIOCore

/// A value of JSON as it came, before its kind is checked: only in this way can a complaint name what is wrong.
enum JSONValue: Decodable, Hashable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// How many levels of values within values are read; a job has two.
    private static let depthLimit = 16

    /// - Throws: `.badInput` where the bytes are not JSON, or nested too deeply.
    init(_ buffer: ByteBuffer) throws(SkyError) {
        do {
            self = try JSONDecoder().decode(JSONValue.self, from: Data(buffer.readableBytesView))
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            throw SkyError(.badInput, "the job is not JSON")
        } catch {
            throw SkyError(.badInput, "the job holds values that cannot be read")
        }
    }

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= JSONValue.depthLimit else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "nested too deeply"))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// A number without a fraction that `Int` holds exactly; `nil` for anything else.
    var whole: Int? {
        guard case .number(let number) = self, number.rounded() == number else { return nil }
        return Int(exactly: number)
    }

    /// A number or a text as the command line has it; `nil` for anything else.
    var written: String? {
        switch self {
        case .text(let text): text
        case .number(let number): whole.map { "\($0)" } ?? "\(number)"
        case .null, .flag, .list, .object: nil
        }
    }
}
