import ArgumentParser
import Base
import Transport

/// The words at the beginning of a command line that name a command. The parser takes a word that it does not know for an argument
/// of the command before it, shows the general help, and reports success.
struct CommandPath {
    private let arguments: [String]

    /// - Parameter arguments: the command line without the program's name.
    init(_ arguments: [String]) { self.arguments = arguments }

    /// What is wrong with the words, for people; `nil` where nothing is.
    var complaint: String? {
        var rest = arguments[...]
        if rest.first == "help" { rest = rest.dropFirst() }
        var (command, path) = (SkyNodeCommand.self as any ParsableCommand.Type, ["skynode"])
        while let word = rest.first, !word.hasPrefix("-"), !command.configuration.subcommands.isEmpty {
            guard let next = CommandPath.subcommand(word, of: command) else {
                // `skynode jobs 7f3a` shows that job.
                return CommandPath.isName(word, of: command) ? nil : CommandPath.unknown(word, of: command, path)
            }
            (command, path) = (next, path + [next._commandName])
            rest = rest.dropFirst()
        }
        return nil
    }

    /// The command of the line.
    ///
    /// The program's parser makes the list of a command's options twice, the command's own once, and that is most of what a parser
    /// does. Where the latter finds a fault, or help is asked for, the former says so, because it knows what the command is called.
    ///
    /// - Throws: the errors of the parser.
    func command() throws -> any ParsableCommand {
        if let word = arguments.first, let leaf = CommandPath.subcommand(word, of: SkyNodeCommand.self),
            leaf.configuration.subcommands.isEmpty,
            let command = try? leaf.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == leaf
        {
            return command
        }
        return try SkyNodeCommand.parseAsRoot(arguments)
    }

    /// The option that is probably meant by one that the program itself does not have; `nil` where nobody knows.
    static func nearestOption(_ option: String) -> String? {
        if ["-V", "-v", "-version"].contains(option) { return "--version" }
        return nearest(option, ["--help", "--version"])
    }

    private static func subcommand(_ word: String, of command: any ParsableCommand.Type) -> (any ParsableCommand.Type)?
    {
        command.configuration.subcommands.first {
            $0._commandName == word || $0.configuration.aliases.contains(word)
        }
    }

    /// Whether a word behind a command that lists things may be the name of one of them.
    private static func isName(_ word: String, of command: any ParsableCommand.Type) -> Bool {
        if command == JobsCommand.self { return JobReference.isPossible(word) }
        return command == NodesCommand.self && nearest(word, visible(command)) == nil
    }

    private static func unknown(_ word: String, of command: any ParsableCommand.Type, _ path: [String]) -> String {
        let known = visible(command).joined(separator: ", ")
        let place = path.count > 1 ? " of \(path.joined(separator: " "))" : ""
        let advice = suggestion(for: word, path).map { "did you mean \($0)? There" } ?? "there"
        return "unknown command \"\(PrintableText.of(String(word.prefix(60))))\"\(place); \(advice) are: \(known)"
    }

    private static func visible(_ command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
    }

    /// The command whose last word is nearest to `word`: one of the same command rather than one elsewhere.
    private static func suggestion(for word: String, _ path: [String]) -> String? {
        let all = paths(SkyNodeCommand.self, ["skynode"])
        let beside = all.filter { $0.dropLast() == path[...] }
        for candidates in [beside, all] {
            guard let name = nearest(word, candidates.compactMap(\.last)) else { continue }
            return candidates.first { $0.last == name }?.joined(separator: " ")
        }
        return nil
    }

    private static func paths(_ command: any ParsableCommand.Type, _ path: [String]) -> [[String]] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { next in
            [path + [next._commandName]] + paths(next, path + [next._commandName])
        }
    }

    /// A third of the letters may be wrong, and two in a short word, as when they are swapped.
    private static func nearest(_ word: String, _ names: [String]) -> String? {
        let word = String(word.lowercased().prefix(60))
        let found = names.map { ($0, EditDistance.between(word, $0)) }.min { $0.1 < $1.1 }
        guard let (name, distance) = found, distance <= max(2, word.count / 3), distance < name.count else {
            return nil
        }
        return name
    }
}
