/// Something that takes bytes from anybody, and what must hold whatever they are.
protocol FuzzTarget: Sendable {
    static var name: String { get }

    /// What a run may take.
    static var limit: RunLimit { get }

    /// Traps where a property does not hold.
    static func run(_ input: FuzzInput)

    /// Inputs made of real encodings, for the fuzzer to start from.
    static func seeds() throws -> [[UInt8]]
}

extension FuzzTarget {
    static var limit: RunLimit { .none }
}

/// Checks a property. Where it does not hold, the input is a finding.
@inline(__always)
func require(
    _ holds: Bool, _ property: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !holds { fatalError("does not hold: \(property())", file: file, line: line) }
}
