import Base

/// Why an image's header does not give its sources right ascension and declination.
package enum MissingCoordinates: Error, Hashable {
    /// The header has none.
    case absent
    /// The header's coordinates are not those of a place in the sky.
    case linear(String)
    /// The header's coordinates are celestial, but cannot be turned into ICRS here.
    case unusable(String)

    /// The limit of a header's text that is passed on. An axis's type and its reference frame have 8 to 68 characters.
    static let textLimit = 200

    /// Whether the header has celestial coordinates, although they cannot be used.
    var isUnusable: Bool { if case .unusable = self { true } else { false } }

    /// The words for the user, in one line; `nil` if there is nothing to report.
    package var words: String? {
        switch self {
        case .absent: nil
        case .linear(let types): "the header's are linear (\(types))"
        case .unusable(let reason): reason
        }
    }

    /// Text of a header in a form that can be shown in a line.
    package static func shown(_ text: some StringProtocol) -> String {
        PrintableText.of(String(decoding: text.utf8.prefix(68), as: UTF8.self))
    }
}

extension Result where Success == WCSTransform, Failure == MissingCoordinates {
    var transform: WCSTransform? { if case .success(let transform) = self { transform } else { nil } }
    package var missing: MissingCoordinates? { if case .failure(let missing) = self { missing } else { nil } }
}
