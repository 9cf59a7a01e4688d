import ArgumentParser
import Base
import Transport

/// The parser's words about a wrong command line, in one line: what is wrong, the values that are right, and where to read on.
struct UsageWords {
    /// What is wrong.
    let message: String
    /// The command whose help tells more: `skynode jobs show --help`.
    let help: String

    /// - Parameters:
    ///   - error: what the parser has thrown.
    ///   - command: the command that parsed.
    init(_ error: any Error, of command: any ParsableArguments.Type) {
        let lines = command.message(for: error).split(separator: "\n").map(String.init)
        // Values that are allowed come in a list of their own, a line each.
        let values = lines.filter { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        var first = lines.first ?? "wrong usage"
        if !values.isEmpty { first += " " + values.joined(separator: ", ") }
        if values.isEmpty, let form = UsageWords.form(first) ?? UsageWords.negativeForm(first) { first += " (\(form))" }
        message = PrintableText.of(first.hasSuffix(".") ? String(first.dropLast()) : first)
        // The parser knows how far it came; it says so in its long form only.
        let pointer = command.fullMessage(for: error).firstMatch(of: /See '([^']+)' for more information/)
        help = pointer.map { String($0.1) } ?? "skynode --help"
    }

    /// The message with the way to the help.
    var line: String { "\(message.hasSuffix("?") ? String(message) : message + ";") see \(help)" }

    /// The form of a value that the parser has refused. The parser only says that it has refused it.
    private static func form(_ message: String) -> String? {
        guard message.contains("is invalid for"), !message.contains("': it must be "),
            let match = message.matches(of: /<([^>]+)>/).last
        else { return nil }
        return forms[String(match.1)]
    }

    /// How a negative number is written. The parser takes one that follows its option for another option.
    private static func negativeForm(_ message: String) -> String? {
        guard let match = message.firstMatch(of: /Missing value for '(?:-\w, )?(--[\w-]+) <([^>]+)>'/),
            numbers.contains(String(match.2))
        else { return nil }
        return "a negative number is written \(match.1)=-5"
    }

    /// The names that options have for single numbers.
    private static let numbers: Set = ["n", "sigma", "mag", "pixels", "value", "number", "adu", "gain", "seconds"]

    /// The forms, by the names that options have for their values.
    private static let forms = [
        "time": "such as 90s, 10m or 2h", "duration": "such as 90s, 10m or 2h", "size": "such as 500M or 20G",
        "age": "such as 7d, 12h or 30m",
        "n": "a number without a unit", "seconds": "a number without a unit", "days": "a number without a unit",
        "format,...": "some of \(FormatsArgument.names), with commas in between",
        "pixels,...": "numbers with commas in between, such as 6,10",
        "bright:faint": "such as 18:24, the brighter first",
        "pixels": "a number", "sigma": "a number such as 1.5", "mag": "a number such as 25.3",
        "n[:how]": "such as 7 or 7:hang; crash, hang, memory or node",
    ]
}
