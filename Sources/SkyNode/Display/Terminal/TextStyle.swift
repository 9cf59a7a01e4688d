import ArgumentParser

/// When a command writes in colour.
enum ColourChoice: String, CaseIterable, ExpressibleByArgument {
    case auto
    case always
    case never

    private static let option = "--color"

    /// What the command line says. It is read before the parser reads it, because the parser's complaints are coloured too. The
    /// parser refuses values that are not possible.
    init(arguments: [String]) {
        var choice = ColourChoice.auto
        var rest = arguments.prefix { $0 != "--" }
        while let argument = rest.popFirst() {
            if argument == Self.option, let value = rest.first.flatMap(ColourChoice.init(rawValue:)) {
                choice = value
            } else if argument.hasPrefix(Self.option + "=") {
                choice = ColourChoice(rawValue: String(argument.dropFirst(Self.option.count + 1))) ?? choice
            }
        }
        self = choice
    }

    /// Whether a stream gets colours: the option counts most, then `NO_COLOR` (https://no-color.org) and a terminal that
    /// says that it has none.
    func isOn(terminal: Bool, environment: [String: String]) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: terminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }
    }
}

/// How text looks on a terminal: the one place that knows the codes (ECMA-48, SGR).
struct TextStyle: Sendable {
    /// What a piece of text means.
    enum Meaning: Sendable {
        case heading
        case good
        case caution
        case bad

        fileprivate var code: Int {
            switch self {
            case .heading: 1
            case .bad: 31
            case .good: 32
            case .caution: 33
            }
        }
    }

    /// Text as it is.
    static let plain = TextStyle(isColoured: false)

    let isColoured: Bool

    func apply(_ meaning: Meaning?, to text: String) -> String {
        guard isColoured, let meaning, !text.isEmpty else { return text }
        return "\u{1B}[\(meaning.code)m\(text)\u{1B}[0m"
    }

    /// A line as it is read, without the codes in it.
    static func withoutCodes(_ line: String) -> String {
        var (plain, isCode) = (String.UnicodeScalarView(), false)
        for scalar in line.unicodeScalars {
            if scalar == "\u{1B}" { isCode = true }
            if !isCode { plain.append(scalar) }
            if scalar == "m" { isCode = false }
        }
        return String(plain)
    }

    /// Words at the beginning of a line for people that say what kind of line it is.
    private static let labels: [(word: String, meaning: Meaning)] = [
        ("Failed:", .bad), ("blind:", .bad), ("Retrying:", .caution), ("paused:", .caution), ("caution:", .caution),
        ("note:", .caution), ("skynode:", .heading),
    ]

    /// A line with its first word in the colour of what it says.
    func label(_ line: String) -> String {
        let label = Self.labels.first { line.hasPrefix($0.word) }
        guard isColoured, let (word, meaning) = label else { return line }
        return apply(meaning, to: word) + line.dropFirst(word.count)
    }

    /// A line that says what went wrong.
    func failure(_ message: String) -> String { apply(.bad, to: "skynode:") + " " + message }
}
