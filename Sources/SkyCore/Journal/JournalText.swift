import Base
import Foundation

/// Requests and reports as a journal stores them: as JSON, which later versions and people can read.
enum JournalText {
    /// Encodes any value: numbers that JSON cannot express become text.
    static func encode(_ value: some Encodable) throws(SkyError) -> Data {
        let encoder = JSONEncoder()
        // The keys are sorted, so that the same request gives the same text.
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
