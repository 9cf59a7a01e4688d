extension JobKinds {
    /// All kinds of jobs that there are. A new kind is added here.
    static let builtIn: [any JobKind.Type] = [SimulateKind.self, SkyKind.self, CompareKind.self]
}
