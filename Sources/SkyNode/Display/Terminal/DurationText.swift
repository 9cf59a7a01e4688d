/// Durations for people, and back.
enum DurationText {
    /// Reads `1s`, `250ms`, `1.5m`, `2h`; a bare number is seconds. `nil` for anything else, negative or over a day.
    static func parse(_ text: String) -> Duration? {
        let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = Double(text.dropLast(unit.suffix.count)), number.isFinite, number >= 0,
                number * unit.seconds <= 86_400
            else { return nil }
            return .nanoseconds(Int64(number * unit.seconds * 1e9))
        }
        return nil
    }

    /// Seconds with the given number of decimals.
    static func seconds(_ duration: Duration, decimals: Int = 2) -> String {
        fixed(duration.inSeconds, decimals)
    }

    /// Two units at most: 45 s, 12 m 5 s, 3 h 20 m, 9 d 4 h.
    static func age(_ seconds: Double) -> String {
        let whole = Int(min(max(0, seconds), 1e9))
        let first = units.firstIndex { whole >= $0.seconds } ?? units.count - 1
        return units[first..<min(first + 2, units.count)].enumerated().map { place, unit in
            "\((place == 0 ? whole : whole % units[first].seconds) / unit.seconds) \(unit.name)"
        }.joined(separator: " ")
    }

    /// As `age`, but a time of less than ten seconds is given to a hundredth of a second.
    static func taken(_ seconds: Double) -> String {
        (0..<9.995).contains(seconds) ? fixed(seconds, 2) + " s" : age(seconds)
    }

    /// How long ago something was, in one unit; clocks of two machines may differ a little.
    static func ago(_ seconds: Double) -> String {
        guard seconds >= 1 else { return "now" }
        let whole = Int(min(seconds, 1e9))
        let unit = units.first { whole >= $0.seconds } ?? ("s", 1)
        return "\(whole / unit.seconds) \(unit.name == "m" ? "min" : unit.name) ago"
    }

    private static let units = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)].map { (name: $0, seconds: $1) }

    /// A number with a fixed number of decimals.
    static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        let scaled = Int64((value * scale).rounded())
        if decimals == 0 { return String(scaled) }
        let digits = String(scaled.magnitude)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return (scaled < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}

extension Duration {
    /// The duration in seconds. It may be of any length, since it may be a peer's.
    var inSeconds: Double { self / .seconds(1) }
}
