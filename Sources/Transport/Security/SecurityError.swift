/// Something is wrong with a key or certificate of this node: one line that says what, which file, what to do.
public struct SecurityError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}
