import ArgumentParser

/// What `-h` shows: what a command is for, how it is used, and the options that most people want; `--help` has them all.
struct ShortHelp {
    let lines: [String]

    /// The options that are shown of commands that have many, by command. Other commands show all but those of cluster and
    /// connection.
    static let common: [String: [String]] = [
        "scan": [
            "output", "format-catalogue", "columns", "preset", "threshold", "min-area", "aperture", "zero-point",
            "reference", "inject", "detach", "verbose", "quiet",
        ],
        "serve": [
            "config", "check-config", "name", "listen", "slots", "data", "data-limit", "cluster-key", "join", "http",
        ],
        "simulate": ["tasks", "duration", "fail-every", "poison", "repeat", "detach"],
        "synthesize": ["width", "height", "stars", "galaxies", "fwhm", "seed", "epochs", "transients", "movers"],
    ]

    /// Whether the short help is asked for: by `-h` itself, before anything that ends options.
    static func isAsked(_ arguments: [String]) -> Bool { arguments.prefix { $0 != "--" }.contains("-h") }

    /// - Parameters:
    ///   - arguments: the command line without the program's name.
    ///   - width: the columns that there are.
    init(_ arguments: [String], root: CommandInfo, width: Int = 80) {
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        var (command, path) = root.command(words)
        let name = path.joined(separator: " ")
        let wrap = { (text: String) in ShortHelp.wrapped(text, indent: 0, to: width) }
        var lines = command.abstract.map(wrap) ?? []
        var usage = ["USAGE: \(name) [options]"]
        let subcommands = (command.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
        if !subcommands.isEmpty { usage[0] = "USAGE: \(name) <command> [options]" }
        let examples = ShortHelp.examples(command.discussion ?? "")
        if let list = command.defaultSubcommand { command = command.command([list]).command }
        let shown = (command.arguments ?? []).filter { $0.shouldDisplay && $0.name != "version" && $0.name != "help" }
        let positional = shown.filter { $0.kind == "positional" }
        if subcommands.isEmpty {
            usage += positional.map { $0.isOptional && !$0.isRepeating ? "[\($0.label)]" : $0.label }
        }
        lines += ["", usage.joined(separator: " ")]
        if !examples.isEmpty { lines += [""] + examples }
        if !subcommands.isEmpty {
            let rows = subcommands.map { ($0.commandName, $0.abstract ?? "") }
            lines += ["", "COMMANDS:"] + ShortHelp.table(rows, width: width)
        }
        let options = shown.filter { $0.kind != "positional" }
        let wanted = ShortHelp.common[command.commandName]
        let chosen =
            wanted.map { names in names.compactMap { name in options.first { $0.name == name } } }
            ?? options.filter { !HelpSection.common.contains($0.sectionTitle ?? "") }
        let rows = (subcommands.isEmpty ? positional : []) + chosen
        if !rows.isEmpty {
            lines += ["", chosen.count < options.count ? "COMMON OPTIONS:" : "OPTIONS:"]
            lines += ShortHelp.table(rows.map { ($0.label, ShortHelp.sentence($0.abstract ?? "")) }, width: width)
        }
        let more = chosen.count < options.count ? "\(name) --help shows all options" : "\(name) --help says more"
        let each = subcommands.isEmpty ? "" : "; \(name) <command> -h is about one command"
        self.lines = lines + [""] + wrap(more + each + ".")
    }

    /// The examples at the end of a command's description.
    private static func examples(_ discussion: String) -> [String] {
        let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(of: "EXAMPLES:") else { return [] }
        return Array(lines[start...].prefix { !$0.isEmpty })
    }

    /// The first sentence, which says what an option does.
    private static func sentence(_ text: String) -> String {
        text.firstMatch(of: /[^.]\. [A-Z]/).map { String(text[..<$0.range.lowerBound]) + String($0.0.prefix(2)) }
            ?? text
    }

    /// Columns of the names in a table; a longer name has a line of its own.
    private static let names = 28

    private static func table(_ rows: [(name: String, text: String)], width: Int) -> [String] {
        let indent = min(names, (rows.map(\.name.count).max() ?? 0) + 4)
        return rows.flatMap { name, text in
            let label = "  " + name
            let lines = wrapped(text, indent: indent, to: width)
            guard label.count + 2 <= indent, let first = lines.first else { return [label] + lines }
            return [label + first.dropFirst(label.count)] + lines.dropFirst()
        }
    }

    private static func wrapped(_ text: String, indent: Int, to width: Int) -> [String] {
        let blank = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > max(width, indent + 20) {
                lines.append(blank + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [blank + line]
    }
}
