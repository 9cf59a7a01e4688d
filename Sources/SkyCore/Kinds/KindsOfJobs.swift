extension JobKinds {
    /// All kinds of jobs that there are: the one place to name a new one.
    static let builtIn: [any JobKind.Type] = [SimulateKind.self, ScanKind.self, CompareKind.self]
}
