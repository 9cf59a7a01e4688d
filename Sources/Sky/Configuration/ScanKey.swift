import Base

/// A setting of a scan, as people and programs write it: `min-area` is the flag `--min-area`, and a name among the options of a job in
/// JSON. `ScanKeys` lists them, each once: the flag with its help and completion, the values that are taken, and the entry in
/// docs/openapi.yaml follow.
package struct ScanKey: Sendable {
    /// Numbers that are taken.
    struct Bounds: Sendable {
        var lowest: Double
        var highest: Double?
        /// Whether the lowest one is not taken itself.
        var isAbove = false
        /// "pixels"; nothing where they have none.
        var unit = ""

        func contains(_ number: Double) -> Bool {
            number.isFinite && (isAbove ? number > lowest : number >= lowest)
                && highest.map { number <= $0 } ?? true
        }

        /// Which they are, for people.
        var words: String {
            let (low, unit) = (ScanKey.text(lowest), unit.isEmpty ? "" : " \(unit)")
            guard let high = highest.map(ScanKey.text) else {
                return isAbove ? "above \(low)\(unit)" : "\(low)\(unit) or more"
            }
            return isAbove ? "above \(low), up to \(high)\(unit)" : "\(low) to \(high)\(unit)"
        }
    }

    /// What is written.
    enum Form: Sendable {
        case number, whole
        /// Numbers with commas between them.
        case numbers
        case text
        /// One of the words, or the name of a file that ends like this.
        case file(ending: String)
        /// One of the words.
        case word
    }

    package let name: String
    /// What it is called in a complaint: "minimum area".
    let title: String
    let form: Form
    /// `nil` where any finite number is taken.
    var bounds: Bounds?
    /// The words that are taken beside what the form allows.
    package var words: [String] = []
    /// What the help shows in the place of the value: `pixels` in `--min-area <pixels>`.
    package let placeholder: String
    package let help: String
    /// Whether each value that is taken is taken whatever else is set.
    var isIndependent = true
    /// What the header of a catalogue says of it.
    var cards: @Sendable (ScanConfiguration) -> [FITSCard] = { _ in [] }
    /// Sets it. The text has the form.
    let apply: @Sendable (ScanText, inout ScanConfiguration) throws(SkyError) -> Void

    /// Refuses a number that the setting cannot have, however it came.
    ///
    /// - Throws: `.badInput` with one line that names the setting, its value and the values allowed.
    func check(_ number: Double) throws(SkyError) { try check(number, "\(number)") }

    func check(_ number: Int) throws(SkyError) { try check(Double(number), "\(number)") }

    /// - Parameter text: the number as it is written; it is made only where the number is refused, because each task is checked.
    private func check(_ number: Double, _ text: @autoclosure () -> String) throws(SkyError) {
        guard number.isFinite, bounds?.contains(number) ?? true else {
            throw SkyError(.badInput, "\(title) \(text()): it must be \(bounds?.words ?? "a finite value")")
        }
    }

    /// Whether a text has the form of a value. Whether a number is too large or too small is seen when all are put together.
    package func takes(_ text: String) -> Bool {
        guard !words.contains(text) else { return true }
        return switch form {
        case .number: Double(text) != nil
        case .whole: Int(text) != nil
        case .numbers: ScanText.numbers(text) != nil
        case .text: true
        case .file(let ending): text.hasSuffix(ending)
        case .word: false
        }
    }

    /// What has to be written, for people.
    package var formWords: String {
        let other: [String] =
            switch form {
            case .number: ["a number"]
            case .whole: ["a whole number"]
            case .numbers: ["numbers with commas between them"]
            case .text: ["text"]
            case .file(let ending): ["the name of a \(ending) file"]
            case .word: []
            }
        let all = words + other
        return all.count < 2 ? all.joined() : all.dropLast().joined(separator: ", ") + " or " + all[all.count - 1]
    }

    /// Its line in docs/openapi.yaml.
    package var schema: String {
        "\(name): {\(words.isEmpty || form.isWord ? schemaOfForm : "oneOf: [{\(schemaOfForm)}, {\(choice)}]")}"
    }

    private var choice: String { "type: string, enum: [\(words.map { "\"\($0)\"" }.joined(separator: ", "))]" }

    private var schemaOfForm: String {
        var schema: String
        switch form {
        case .number: schema = "type: number"
        case .whole: schema = "type: integer"
        case .word: return choice
        case .numbers, .text, .file: return "type: string"
        }
        if let bounds {
            schema += ", minimum: \(ScanKey.text(bounds.lowest))" + (bounds.isAbove ? ", exclusiveMinimum: true" : "")
            if let highest = bounds.highest { schema += ", maximum: \(ScanKey.text(highest))" }
        }
        return schema
    }

    private static func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? "\(number)" }
}

extension ScanKey.Form {
    fileprivate var isWord: Bool { if case .word = self { true } else { false } }
}
