package import Base
package import NIOCore

/// A field of a job's request in JSON.
package struct RequestField: Sendable {
    /// What is written.
    package enum Form: Sendable {
        /// - Parameter pattern: a regular expression for texts that are taken; `nil` where that needs more words.
        case text(pattern: String? = nil)
        case whole(ClosedRange<Int>)
        case number(ClosedRange<Double>)
        case texts
        /// An object whose values are numbers or texts.
        case options
    }

    package let name: String
    let form: Form
    /// What it is, for people: "the absolute path of an image"; nothing where that is clear.
    let purpose: String
    let isRequired: Bool

    package init(_ name: String, _ form: Form, _ purpose: String = "", isRequired: Bool = false) {
        (self.name, self.form, self.purpose, self.isRequired) = (name, form, purpose, isRequired)
    }

    /// Its line in docs/openapi.yaml; `nil` for an object, whose values are described there.
    package var schema: String? {
        func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }
        let (type, limits): (String, String)
        switch form {
        case .text(let pattern): (type, limits) = ("string", pattern.map { ", pattern: \"\($0)\"" } ?? "")
        case .whole(let range):
            (type, limits) = ("integer", ", minimum: \(range.lowerBound), maximum: \(range.upperBound)")
        case .number(let range):
            (type, limits) = ("number", ", minimum: \(text(range.lowerBound)), maximum: \(text(range.upperBound))")
        case .texts: (type, limits) = ("array, items: {type: string}", "")
        case .options: return nil
        }
        let schema = "type: \(type)\(isRequired ? "" : ", nullable: true")\(limits)"
        return "\(name): {\(schema)\(purpose.isEmpty ? "" : ", description: \"\(purpose)\"")}"
    }

    /// The value, if it has the form.
    ///
    /// - Throws: `.badInput`, with the name of the field.
    fileprivate func read(_ value: JSONValue) throws(SkyError) -> RequestForm.Value {
        switch (form, value) {
        case (.text, .text(let text)): return .text(text)
        case (.text, _): throw SkyError(.badInput, "`\(name)` must be text in quotes")
        case (.number(let range), .number(let number)):
            try check(range.contains(number), "\(Int(range.lowerBound))", "\(Int(range.upperBound))")
            return .number(number)
        case (.number, _): throw SkyError(.badInput, "`\(name)` must be a number")
        case (.whole(let range), .number(let number)) where number.rounded() == number:
            let whole = value.whole
            try check(whole.map(range.contains) ?? false, "\(range.lowerBound)", "\(range.upperBound)")
            return .whole(whole ?? 0)
        case (.whole, _): throw SkyError(.badInput, "`\(name)` must be a whole number")
        case (.texts, .list(let list)):
            var texts: [String] = []
            for value in list {
                guard case .text(let text) = value else { throw notTexts }
                texts.append(text)
            }
            return .texts(texts)
        case (.texts, _): throw notTexts
        case (.options, .object(let options)):
            var texts: [String: String] = [:]
            for (option, value) in options.sorted(by: { $0.key < $1.key }) {
                guard let text = value.written else {
                    let option = PrintableText.of(String(option.prefix(80)))
                    throw SkyError(.badInput, "`\(name).\(option)` must be a number, or text in quotes")
                }
                texts[option] = text
            }
            return .options(texts)
        case (.options, _): throw SkyError(.badInput, #"`\#(name)` must be an object, as {"threshold": 2.5}"#)
        }
    }

    private var notTexts: SkyError { SkyError(.badInput, "`\(name)` must be a list of texts in quotes") }

    private func check(_ holds: Bool, _ lowest: String, _ highest: String) throws(SkyError) {
        guard holds else { throw SkyError(.badInput, "`\(name)` must lie between \(lowest) and \(highest)") }
    }
}

/// The request of a job that people and programs may ask for in JSON: by HTTP, and from a file.
package protocol JSONRequest: KindRequest {
    /// The word for the kind in JSON. No other kind has the same.
    static var word: String { get }
    /// What such a job is asked for with, beside what all jobs have.
    static var fields: [RequestField] { get }
    /// - Throws: `SkyError` of kind `badInput` that names the field that is wrong.
    init(_ form: RequestForm) throws(SkyError)
}

extension JSONRequest {
    fileprivate static func job(_ form: RequestForm) throws(SkyError) -> JobRequest {
        JobRequest(JobRequest.Kind(try Self(form)))
    }
}

/// The fields of a job as they came in JSON. Each has the form that is declared for it; one that is `null` counts as missing.
package struct RequestForm: Sendable {
    fileprivate enum Value: Sendable {
        case text(String)
        case whole(Int)
        case number(Double)
        case texts([String])
        case options([String: String])
    }

    private let values: [String: Value]

    /// - Parameter word: the word for the kind, for complaints.
    fileprivate init(
        _ object: [String: JSONValue], _ fields: [RequestField], of word: String
    ) throws(SkyError) {
        let known = ["kind"] + fields.map(\.name)
        if let unknown = object.keys.filter({ !known.contains($0) }).min() {
            throw SkyError(
                .badInput,
                "there is no `\(PrintableText.of(String(unknown.prefix(80))))` in a \(word) job: it has "
                    + known.joined(separator: ", "))
        }
        var values: [String: Value] = [:]
        for field in fields {
            guard let value = object[field.name], value != .null else {
                guard !field.isRequired else {
                    throw SkyError(.badInput, "`\(field.name)` is missing: \(field.purpose)")
                }
                continue
            }
            values[field.name] = try field.read(value)
        }
        self.values = values
    }

    package func text(_ name: String) -> String? { if case .text(let text) = values[name] { text } else { nil } }

    package func whole(_ name: String) -> Int? { if case .whole(let number) = values[name] { number } else { nil } }

    package func number(_ name: String) -> Double? {
        if case .number(let number) = values[name] { number } else { nil }
    }

    package func texts(_ name: String) -> [String]? { if case .texts(let texts) = values[name] { texts } else { nil } }

    package func options(_ name: String) -> [String: String]? {
        if case .options(let options) = values[name] { options } else { nil }
    }
}

extension Submission {
    /// The largest job in JSON, in bytes.
    package static let jsonLimit = 64 << 10

    /// The fields that jobs of all kinds have.
    package static let fields = [
        RequestField("priority", .whole(-100...100)), RequestField("retries", .whole(0...100)),
        RequestField(
            "token", .text(pattern: "^[ -~]{1,200}$"),
            "a submission repeated with it starts nothing new; other letters are taken too, line breaks and control characters are not"
        ),
    ]

    /// A job as people and programs write it: `{"kind": "simulate", "tasks": 20}`. Everything is checked here.
    ///
    /// - Throws: `SkyError` of kind `badInput`, in words for whoever wrote it, that names the field.
    package init(json: ByteBuffer) throws(SkyError) {
        guard case .object(let object) = try JSONValue(json) else {
            throw SkyError(.badInput, #"a job is an object of JSON, as {"kind": "simulate", "tasks": 20}"#)
        }
        let words = JobKinds.words.joined(separator: " or ")
        let word: String
        switch object["kind"] {
        case nil, .null: throw SkyError(.badInput, "`kind` is missing: \(words)")
        case .text(let text): word = text
        default: throw SkyError(.badInput, "`kind` must be text in quotes")
        }
        guard let type = JobKinds.request(called: word) else {
            throw SkyError(
                .badInput, "`kind` must be \(words), not \(PrintableText.of(String(word.prefix(80))))")
        }
        let form = try RequestForm(object, type.fields + Submission.fields, of: word)
        var job = try type.job(form)
        if let priority = form.whole("priority") { job.options.priority = priority }
        if let retries = form.whole("retries") { job.options.retries = retries }
        self.init(job, token: form.text("token"))
        try validate()
    }
}
