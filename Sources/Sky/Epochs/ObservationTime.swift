import Glibc

/// The time when an image was taken, from its header: the middle of the exposure.
public enum ObservationTime {
    /// - Parameter header: FITS cards of 80 characters.
    /// - Returns: The seconds since the beginning of the Modified Julian Date, from `MJD-OBS` or else `DATE-OBS`, with half
    ///   of `EXPTIME`; `nil` if the header has neither.
    public static func seconds(_ header: [String]) -> Double? {
        let values = HeaderValues(header)
        let half = values.number("EXPTIME").map { (0...1e6).contains($0) ? $0 / 2 : 0 } ?? 0
        if let day = values.number("MJD-OBS"), (0...200_000).contains(day) { return day * 86_400 + half }
        return values.text("DATE-OBS").flatMap { seconds(date: $0) }.map { $0 + half }
    }

    /// A date of FITS, `2026-01-02T03:04:05.6`, with or without the time of day.
    private static func seconds(date: String) -> Double? {
        let halves = date.split(separator: "T", maxSplits: 1)
        let parts = (halves.first ?? "").split(separator: "-").map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
            (1800...3000).contains(year), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        // The days of the Gregorian calendar are counted from 0000-03-01; MJD 0 is 1858-11-17 (Fliegel and Van Flandern 1968).
        let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
        let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 678_881
        guard halves.count == 2 else { return Double(days) * 86_400 }
        let clock = halves[1].split(separator: ":").map { Double($0) }
        guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
            (0..<24).contains(hour), (0..<60).contains(minute), (0..<61).contains(second)
        else { return nil }
        return Double(days) * 86_400 + hour * 3600 + minute * 60 + second
    }
}
