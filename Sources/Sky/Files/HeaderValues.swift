/// The values of a FITS header's cards, by keyword, as text.
struct HeaderValues {
    private var values: [Substring: String] = [:]

    /// - Parameter cards: Cards of 80 characters. If several have the same keyword, the first counts.
    init(_ cards: [String]) {
        for card in cards {
            let bytes = card.utf8
            guard bytes.count > 9, bytes[bytes.index(bytes.startIndex, offsetBy: 8)] == UInt8(ascii: "=") else {
                continue
            }
            let keyword = card.prefix(8).prefix { $0 != " " }
            guard !keyword.isEmpty, values[keyword] == nil else { continue }
            values[keyword] = Self.value(card.dropFirst(9))
        }
    }

    /// The value of a card, which stands behind the equals sign and before the comment; a text comes without its quotes.
    private static func value(_ rest: Substring) -> String {
        let rest = rest.drop { $0 == " " }
        guard rest.first == "'" else { return String(rest.prefix { $0 != "/" }).withoutSpaces }
        // A slash inside of quotes is part of the text, and two quotes inside of quotes stand for one.
        var text = ""
        var place = rest.dropFirst()
        while let character = place.popFirst() {
            if character == "'" {
                guard place.first == "'" else { break }
                place = place.dropFirst()
            }
            text.append(character)
        }
        return text.withoutSpaces
    }

    /// The text of a keyword; `nil` if there is none.
    func text(_ keyword: String) -> String? {
        values[Substring(keyword)].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The finite number of a keyword; `nil` if there is none.
    func number(_ keyword: String) -> Double? {
        guard let text = text(keyword), let value = Double(text.replacing("D", with: "E")), value.isFinite else {
            return nil
        }
        return value
    }
}

extension String {
    /// The text without spaces at its ends.
    fileprivate var withoutSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension BayerPattern {
    /// The pattern that a header names; `nil` if it names none or an unknown one.
    public init?(header: [String]) {
        let values = HeaderValues(header)
        let named = ["BAYERPAT", "COLORTYP"].lazy.compactMap { values.text($0) }
            .compactMap { BayerPattern(rawValue: $0.uppercased()) }.first
        guard let named else { return nil }
        func offset(_ keyword: String) -> Int {
            Int(exactly: (values.number(keyword) ?? 0).rounded()) ?? 0
        }
        self = named.shifted(x: offset("XBAYROFF"), y: offset("YBAYROFF"))
    }
}
