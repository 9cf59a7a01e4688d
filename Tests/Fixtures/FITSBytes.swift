/// Raw FITS blocks, so that tests can also write what cfitsio would not.
package enum FITSBytes {
    package static func header(_ cards: [String], first: String = "SIMPLE  = T") -> [UInt8] {
        let text = ([first] + cards + ["END"]).map { card in
            // A fixed-format value ends in column 30.
            guard let equals = card.firstIndex(of: "="), !card.contains("'") else { return pad(card, 80) }
            let value = card[card.index(after: equals)...].drop { $0 == " " }
            let key = String(card[...equals]) + " "
            return pad(key + String(repeating: " ", count: max(0, 20 - value.count)) + value, 80)
        }
        return padded(Array(text.joined().utf8), with: 0x20)
    }

    package static func padded(_ bytes: [UInt8], with filler: UInt8 = 0) -> [UInt8] {
        bytes + [UInt8](repeating: filler, count: (2880 - bytes.count % 2880) % 2880)
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
