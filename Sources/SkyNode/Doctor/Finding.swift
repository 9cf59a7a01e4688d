import Base
import Transport

/// One thing that `skynode doctor` has found out.
struct Finding: Hashable, Encodable {
    enum Level: String, Encodable {
        /// It is as it should be.
        case ok
        /// It is worth knowing, and may be as it is meant to be.
        case note
        /// It keeps a node from being seen, or will do so.
        case problem

        var meaning: TextStyle.Meaning {
            switch self {
            case .ok: .good
            case .note: .caution
            case .problem: .bad
            }
        }
    }

    var level: Level
    var text: String
    /// What to do about it.
    var advice: String?

    static func ok(_ text: String) -> Finding { Finding(level: .ok, text: text) }

    static func note(_ text: String, _ advice: String? = nil) -> Finding {
        Finding(level: .note, text: text, advice: advice)
    }

    static func problem(_ text: String, _ advice: String? = nil) -> Finding {
        Finding(level: .problem, text: text, advice: advice)
    }

    /// The width of the column that holds the level.
    private static let width = 9

    /// For a person: the finding, and below it what to do.
    var lines: [String] { lines(.plain) }

    func lines(_ style: TextStyle) -> [String] {
        let indent = String(repeating: " ", count: Finding.width)
        let padding = indent.dropFirst(level.rawValue.count)
        let head = style.apply(level.meaning, to: level.rawValue) + padding
        return [head + PrintableText.of(text)] + (advice.map { [indent + PrintableText.of($0)] } ?? [])
    }
}
