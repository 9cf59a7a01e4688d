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
    /// In seconds; of any length, since it may be a peer's.
    var inSeconds: Double { self / .seconds(1) }
}
