import ArgumentParser

/// Flags that are also keys. Their names and help come from the list of keys, and so do their defaults where they have one.
extension Option {
    /// An option whose value is `nil` where it is not given.
    init<Given: ExpressibleByArgument>(_ key: ConfigurationKey, completion: CompletionKind? = nil)
    where Value == Given? {
        self.init(name: key.flagName, help: key.argumentHelp, completion: completion)
    }

    /// An option that may be given several times.
    init<Given: ExpressibleByArgument>(_ key: ConfigurationKey, completion: CompletionKind? = nil)
    where Value == [Given] {
        self.init(wrappedValue: [], name: key.flagName, help: key.argumentHelp, completion: completion)
    }
}

extension Option where Value: ExpressibleByArgument & Sendable {
    init(_ option: DefaultedKey<Value>) {
        self.init(wrappedValue: option.standard, name: option.key.flagName, help: option.key.argumentHelp)
    }
}

extension Flag where Value == Bool {
    init(_ key: ConfigurationKey) {
        self.init(wrappedValue: false, name: key.flagName, help: key.argumentHelp)
    }
}

extension ConfigurationKey {
    fileprivate var flagName: NameSpecification { .customLong(name) }
    fileprivate var argumentHelp: ArgumentHelp { ArgumentHelp(help, valueName: placeholder) }
}
