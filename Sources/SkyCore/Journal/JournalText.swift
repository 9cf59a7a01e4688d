import Base
import Foundation

/// Requests and reports as they stand in a journal: JSON, which later versions and people read.
enum JournalText {
    /// No value keeps it from being written: numbers that JSON has no words for are text.
    static func encode(_ value: some Encodable) throws(SkyError) -> Data {
        let encoder = JSONEncoder()
        // The same request is the same text.
        encoder.outputFormatting = .sortedKeys
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do {
            return try encoder.encode(value)
        } catch {
            throw SkyError(.badInput, "the request cannot be written down: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: data)
    }
}
