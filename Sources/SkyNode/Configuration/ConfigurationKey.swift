/// One setting of `skynode serve`. It can be set by a flag, by an environment variable, or in the configuration file. `ServeKeys`
/// lists them.
struct ConfigurationKey: Sendable {
    /// How the setting is written in the file.
    enum Kind: Sendable {
        /// `slots: 4`
        case value
        /// `join: [one:7420, two:7420]`
        case list
        /// `insecure: true`
        case flag
    }

    /// The name in the file. With two dashes in front it is the flag.
    let name: String
    var kind = Kind.value
    /// What the value is, with its unit.
    let unit: String
    /// What the help shows for the value: `n` in `--slots <n>`. `nil` means the key's name, or that the flag takes no value.
    var placeholder: String?
    /// The default, as a text.
    let fallback: String
    /// The purpose of the setting, for a line of the table.
    let purpose: String
    /// The text of the help; `nil` where that is the purpose as a sentence.
    var details: String?
    /// Whether the help ends with the default. The parser adds the default by itself where the flag's property has a value.
    var helpHasFallback = false
    /// Whether a running node takes over a new value at SIGHUP.
    var canChange = false

    /// The name of the environment variable.
    var variable: String { "SKYNODE_" + name.uppercased().split(separator: "-").joined(separator: "_") }

    /// What `--help` says about the flag.
    var help: String {
        let text = details ?? purpose.prefix(1).uppercased() + purpose.dropFirst() + "."
        return helpHasFallback ? "\(text) Default: \(fallback)." : text
    }

    /// The variable that stands for `--config`.
    static let fileVariable = "SKYNODE_CONFIG"
}

/// A key with its default as a value of the program. The default's text is the key's fallback.
struct DefaultedKey<Value: Sendable>: Sendable {
    let key: ConfigurationKey
    let standard: Value

    init(_ standard: Value, _ key: (Value) -> ConfigurationKey) {
        self.standard = standard
        self.key = key(standard)
    }
}
