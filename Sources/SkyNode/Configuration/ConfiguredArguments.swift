import Base
import Foundation
import Transport

/// The settings of command line, environment and configuration file together, as flags of `skynode serve`. A flag takes precedence
/// over the environment, and the environment over the file.
struct ConfiguredArguments {
    private(set) var arguments: [String]
    /// Where each key comes from that no flag sets: its variable, or its line in the file.
    private(set) var origins: [String: String] = [:]
    /// The value of each key that is set, in the form of the command line.
    private(set) var values: [String: [String]] = [:]

    /// - Parameters:
    ///   - given: the arguments of the command line after `serve`.
    ///   - environment: all variables. Those of other programs are ignored.
    ///   - file: a file without faults; `nil` for none.
    /// - Throws: `CommandFailure` for an unknown variable, or one whose value means nothing.
    init(given: [String], environment: [String: String], file: ConfigurationFile?) throws {
        arguments = given
        for argument in given.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first.map(String.init), ServeKeys.named(name) != nil else { continue }
            values[name, default: []].append(argument)
        }
        if let problem = ConfiguredArguments.problems(environment).first { throw CommandFailure(.usage, problem) }
        add { key in
            // An empty variable counts as not set, as everywhere.
            guard let value = environment[key.variable], !value.isEmpty else { return nil }
            return (ConfiguredArguments.texts(key, value), key.variable)
        }
        guard let file else { return }
        add { key in
            guard let line = file.lines[key.name], let texts = file.values[key.name] else { return nil }
            return (texts, "\(PrintableText.of(file.path)):\(line)")
        }
    }

    /// - Parameter setting: what a key is set to, in the form of `ConfigurationFile.values`, and where; `nil` where it is not set.
    private mutating func add(_ setting: (ConfigurationKey) -> (texts: [String], origin: String)?) {
        let known = Set(values.keys)
        for key in ServeKeys.all where !known.contains(key.name) {
            guard let (texts, origin) = setting(key) else { continue }
            // A setting replaces its alternatives from sources of lower precedence: a cluster key on the command line replaces the
            // certificates of the file.
            let others = ServeKeys.alternatives.first { $0.contains(key.name) } ?? []
            guard others.isDisjoint(with: known) else { continue }
            let found: [String] =
                switch key.kind {
                case .value, .list: texts.map { "--\(key.name)=\($0)" }
                case .flag: texts == ["true"] ? ["--\(key.name)"] : []
                }
            values[key.name] = found
            origins[key.name] = origin
            arguments += found
        }
    }

    /// - Parameter value: the value of a variable that has no fault.
    private static func texts(_ key: ConfigurationKey, _ value: String) -> [String] {
        switch key.kind {
        case .value: [value]
        case .list:
            value.split(separator: ",", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        case .flag: [isOn(value) ? "true" : "false"]
        }
    }

    /// What a variable of a flag can say.
    private static let flagWords = (on: ["true", "yes", "1"], off: ["false", "no", "0"])

    /// Whether a variable of a flag says something of the kind.
    static func isFlag(_ text: String) -> Bool { (flagWords.on + flagWords.off).contains(text.lowercased()) }

    static func isOn(_ text: String) -> Bool { flagWords.on.contains(text.lowercased()) }

    /// The faults of the variables. A misspelt variable would be ignored silently. Those of commands alone are known, but have
    /// no meaning for a node.
    static func problems(_ environment: [String: String]) -> [String] {
        let known = Set(ServeKeys.all.map(\.variable)).union([
            ConfigurationKey.fileVariable, NodePlace.variable, NodePlace.requirement,
        ])
        var problems: [String] = []
        for name in environment.keys.sorted() where name.hasPrefix("SKYNODE_") && !known.contains(name) {
            let word = name.dropFirst("SKYNODE_".count).lowercased().replacing("_", with: "-")
            let advice = ServeKeys.nearest(to: word).map { "did you mean \($0.variable)?" }
            problems.append(
                "there is no variable \(PrintableText.of(name)); \(advice ?? "skynode serve --list-keys tells them all")"
            )
        }
        for key in ServeKeys.all where key.kind == .flag {
            guard let value = environment[key.variable], !value.isEmpty else { continue }
            guard !isFlag(value) else { continue }
            problems.append("\(key.variable)=\(PrintableText.of(value)): takes true or false")
        }
        return problems
    }

    /// The arguments in groups, each of an option and its value.
    var groups: [[String]] {
        var groups: [[String]] = []
        for argument in arguments {
            if argument.hasPrefix("-") || groups.isEmpty { groups.append([]) }
            groups[groups.count - 1].append(argument)
        }
        return groups
    }

    /// A message about an option, with the place where the option was set in front.
    func attributed(_ message: String) -> String {
        let mentions = origins.compactMap { name, origin -> (Range<String.Index>, String)? in
            guard let range = message.range(of: "--\(name)") else { return nil }
            let next = message[range.upperBound...].first
            // `--data` must not be found in `--data-limit`.
            return next.map { $0 == "-" || $0.isLetter } ?? false ? nil : (range, origin)
        }
        guard let first = mentions.min(by: { $0.0.lowerBound < $1.0.lowerBound }) else { return message }
        return "\(first.1): \(message)"
    }

    /// The keys that have another value in `other`.
    func changes(to other: ConfiguredArguments) -> [ConfigurationKey] {
        ServeKeys.all.filter { values[$0.name, default: []] != other.values[$0.name, default: []] }
    }
}
