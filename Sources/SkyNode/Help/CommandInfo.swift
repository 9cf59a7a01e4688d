import ArgumentParser
import Foundation

/// A command as the parser describes it (`--experimental-dump-help`).
struct CommandInfo: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            var spelling: String { (kind == "long" ? "--" : "-") + name }
        }

        /// positional, option or flag.
        var kind: String
        var shouldDisplay: Bool
        var sectionTitle: String?
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var abstract: String?

        /// `-o, --output <folder>`, or `<image> ...`.
        var label: String {
            let value = valueName.map { "<\($0)>" } ?? ""
            guard kind != "positional" else { return value + (isRepeating ? " ..." : "") }
            let names = (names ?? []).map(\.spelling).sorted { $0.count < $1.count }.joined(separator: ", ")
            return kind == "option" ? "\(names) \(value)" : names
        }

        /// The longest name, without dashes.
        var name: String { (names ?? []).map(\.name).max { $0.count < $1.count } ?? valueName ?? "" }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var shouldDisplay: Bool
    var defaultSubcommand: String?
    var subcommands: [CommandInfo]?
    var arguments: [Argument]?

    /// The whole program.
    static func root() throws -> CommandInfo {
        struct Tool: Decodable { var command: CommandInfo }
        return try JSONDecoder().decode(Tool.self, from: Data(SkyNodeCommand._dumpHelp().utf8)).command
    }

    /// The command that the first words name, and its name in full.
    func command(_ words: [String]) -> (command: CommandInfo, path: [String]) {
        var (command, path) = (self, [commandName])
        for word in words {
            guard let next = command.subcommands?.first(where: { $0.commandName == word }) else { break }
            (command, path) = (next, path + [word])
        }
        return (command, path)
    }
}
