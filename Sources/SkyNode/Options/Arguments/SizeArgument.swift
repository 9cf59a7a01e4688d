import ArgumentParser

/// A number of bytes on the command line: "512M", "4G". K, M, G and T are powers of 1024, as in df -h and systemd.
struct SizeArgument: ExpressibleByArgument {
    var bytes: UInt64

    init?(argument: String) {
        var digits = argument[...]
        var shift: UInt64 = 0
        if let unit = argument.last, let place = ["kK", "mM", "gG", "tT"].firstIndex(where: { $0.contains(unit) }) {
            digits = argument.dropLast()
            shift = UInt64(place + 1) * 10
        }
        guard let number = UInt64(digits), number <= UInt64.max >> shift else { return nil }
        bytes = number << shift
    }

    /// The bytes as an `Int`.
    var count: Int { Int(clamping: bytes) }

    /// The text of a size as it would be given, such as "20G", with the largest unit that gives a whole number.
    static func argument(_ bytes: Int) -> String {
        let units = ["K", "M", "G", "T"]
        let places = bytes > 0 ? min(bytes.trailingZeroBitCount / 10, units.count) : 0
        return "\(bytes >> (10 * places))" + (places > 0 ? units[places - 1] : "")
    }

    /// The text of a size for people, with three digits: "1.50 GiB".
    static func text(_ bytes: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var (value, unit) = (Double(max(0, bytes)), 0)
        while value >= 1000, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0
            ? "\(Int(value)) B" : "\(DurationText.fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)) \(units[unit])"
    }
}
