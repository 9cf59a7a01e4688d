/// One thing that `skynode serve` can be told: by a flag, by an environment variable, or in the configuration file.
/// `ServeKeys` lists them.
struct ConfigurationKey: Sendable {
    /// How it is written in the file.
    enum Kind: Sendable {
        /// `slots: 4`
        case value
        /// `join: [one:7420, two:7420]`
        case list
        /// `insecure: true`
        case flag
    }

    /// In the file; with two dashes in front the flag.
    let name: String
    var kind = Kind.value
    /// What is to be given, with its unit.
    let unit: String
    /// What the help puts in its place: `n` in `--slots <n>`. `nil` for the key's name, and for what takes nothing.
    var placeholder: String?
    /// What holds where nothing is said.
    let fallback: String
    /// What it is for, in a line of the table.
    let purpose: String
    /// What the help says instead; `nil` for the purpose as a sentence.
    var details: String?
    /// Whether the help ends with the fallback. The parser does so by itself where the flag's property has a value.
    var helpHasFallback = false
    /// Whether SIGHUP makes a running node take it over.
    var canChange = false

    /// The environment variable.
    var variable: String { "SKYNODE_" + name.uppercased().split(separator: "-").joined(separator: "_") }

    /// What `--help` says about the flag.
    var help: String {
        let text = details ?? purpose.prefix(1).uppercased() + purpose.dropFirst() + "."
        return helpHasFallback ? "\(text) Default: \(fallback)." : text
    }

    /// The variable that stands for `--config`.
    static let fileVariable = "SKYNODE_CONFIG"
}

/// A key with the value that the program takes where nothing is said, whose text is the key's fallback.
struct DefaultedKey<Value: Sendable>: Sendable {
    let key: ConfigurationKey
    let standard: Value

    init(_ standard: Value, _ key: (Value) -> ConfigurationKey) {
        self.standard = standard
        self.key = key(standard)
    }
}
