/// The secret that requests must show (RFC 6750).
struct BearerToken: Sendable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether the value of an `Authorization` field shows it.
    func isShown(by field: String?) -> Bool {
        guard let field, field.prefix(7).lowercased() == "bearer " else { return false }
        return isSame(Array(field.dropFirst(7).utf8))
    }

    /// Takes the same time whatever the difference is.
    private func isSame(_ given: [UInt8]) -> Bool {
        var difference = UInt8(given.count == bytes.count ? 0 : 1)
        for (index, byte) in bytes.enumerated() { difference |= byte ^ (index < given.count ? given[index] : 0) }
        return difference == 0
    }
}
