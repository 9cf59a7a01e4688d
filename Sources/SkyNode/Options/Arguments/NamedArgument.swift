import ArgumentParser

/// One value of a type, given by its name.
struct NamedArgument<Value: RawRepresentable<String> & CaseIterable & Sendable>: ExpressibleByArgument {
    let value: Value

    init(value: Value) { self.value = value }

    init?(argument: String) {
        guard let value = Value(rawValue: argument) else { return nil }
        self.value = value
    }

    var defaultValueDescription: String { value.rawValue }
    static var allValueStrings: [String] { Value.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
