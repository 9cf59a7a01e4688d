/// The values of a FITS header's cards, by keyword, as text.
struct HeaderValues {
    private var values: [Substring: String] = [:]

    /// - Parameter cards: of 80 characters; of several with one keyword the first counts.
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

    /// What stands in a card behind the equals sign, without its comment; a text without its quotes.
    private static func value(_ rest: Substring) -> String {
        let rest = rest.drop { $0 == " " }
        guard rest.first == "'" else { return String(rest.prefix { $0 != "/" }).withoutSpaces }
        // A slash inside of quotes is part of the text, and two quotes there are one.
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

    /// A text; `nil` where there is none.
    func text(_ keyword: String) -> String? {
        values[Substring(keyword)].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A finite number; `nil` where there is none.
    func number(_ keyword: String) -> Double? {
        guard let text = text(keyword), let value = Double(text.replacing("D", with: "E")), value.isFinite else {
            return nil
        }
        return value
    }
}

extension String {
    /// Without spaces at its ends.
    fileprivate var withoutSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
