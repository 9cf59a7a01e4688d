import Base

/// Why an image's header does not give its sources right ascension and declination.
package enum MissingCoordinates: Error, Hashable {
    /// The header has none.
    case absent
    /// What it has is no place in the sky.
    case linear(String)
    /// It is one, which does not become ICRS here.
    case unusable(String)

    /// Text of a header that is passed on: an axis's type and its reference frame have 8 to 68 characters.
    static let textLimit = 200

    /// Whether the header has a place in the sky after all.
    var isUnusable: Bool { if case .unusable = self { true } else { false } }

    /// What is told, in one line; `nil` where nothing is to be told.
    package var words: String? {
        switch self {
        case .absent: nil
        case .linear(let types): "the header's are linear (\(types))"
        case .unusable(let reason): reason
        }
    }

    /// Text of a header as it can be shown in a line.
    package static func shown(_ text: some StringProtocol) -> String {
        PrintableText.of(String(decoding: text.utf8.prefix(68), as: UTF8.self))
    }
}

extension Result where Success == WCSTransform, Failure == MissingCoordinates {
    var transform: WCSTransform? { if case .success(let transform) = self { transform } else { nil } }
    package var missing: MissingCoordinates? { if case .failure(let missing) = self { missing } else { nil } }
}
