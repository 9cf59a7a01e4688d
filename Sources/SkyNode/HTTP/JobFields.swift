/// The fields of a job that came as JSON, each of which must be of its kind. A field that is `null` counts as missing.
struct JobFields {
    private let object: [String: JSONValue]

    init(_ object: [String: JSONValue]) { self.object = object }

    private func value(_ name: String) -> JSONValue? {
        guard let value = object[name], value != .null else { return nil }
        return value
    }

    func text(_ name: String) throws -> String? {
        guard let value = value(name) else { return nil }
        guard case .text(let text) = value else { throw APIFailure(.badRequest, "`\(name)` must be text in quotes") }
        return text
    }

    func number(_ name: String, _ range: ClosedRange<Double>) throws -> Double? {
        guard let value = value(name) else { return nil }
        guard case .number(let number) = value else { throw APIFailure(.badRequest, "`\(name)` must be a number") }
        guard range.contains(number) else {
            throw APIFailure(
                .badRequest, "`\(name)` must lie between \(Int(range.lowerBound)) and \(Int(range.upperBound))")
        }
        return number
    }

    func whole(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let value = value(name) else { return nil }
        guard case .number(let number) = value, number.rounded() == number else {
            throw APIFailure(.badRequest, "`\(name)` must be a whole number")
        }
        guard let whole = value.whole, range.contains(whole) else {
            throw APIFailure(.badRequest, "`\(name)` must lie between \(range.lowerBound) and \(range.upperBound)")
        }
        return whole
    }

    /// Names with numbers or texts, as the command line has them.
    func options(_ name: String) throws -> [String: String]? {
        guard let value = value(name) else { return nil }
        guard case .object(let options) = value else {
            throw APIFailure(.badRequest, #"`\#(name)` must be an object, as {"threshold": 2.5}"#)
        }
        return try Dictionary(
            uniqueKeysWithValues: options.sorted { $0.key < $1.key }.map { option, value in
                switch value {
                case .text(let text): return (option, text)
                case .number(let number): return (option, value.whole.map { "\($0)" } ?? "\(number)")
                case .null, .flag, .list, .object:
                    throw APIFailure(
                        .badRequest, "`\(name).\(JobBody.shown(option))` must be a number, or text in quotes")
                }
            })
    }
}
