import Glibc

/// The time at which an exposure began, in UTC.
struct ObservingTime {
    /// Seconds since the first exposure, which is at 6 hours on 1 January 2024.
    let seconds: Double

    /// Modified Julian date.
    var modifiedJulianDate: Double { 60_310.25 + seconds / 86_400 }

    /// `YYYY-MM-DDThh:mm:ss.sss` (FITS standard 4.0, section 9.1.1).
    var date: String {
        // 1 January 2024, 6 hours, in POSIX seconds. The time is in whole milliseconds, so that 59.9999 does not become 60.000.
        let milliseconds = Int((seconds.clamped(to: 0...1e12) * 1000).rounded()) + 1_704_088_800_000
        var time = time_t(milliseconds / 1000)
        var parts = tm()
        gmtime_r(&time, &parts)
        func two(_ value: Int32) -> String { (value < 10 ? "0" : "") + "\(value)" }
        let fraction = String(1000 + milliseconds % 1000).dropFirst()
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))T"
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)).\(fraction)"
    }

    /// The cards that give the time.
    var cards: [FITSCard] {
        [
            FITSCard("TIMESYS", .text("UTC"), "time system"),
            FITSCard("DATE-OBS", .text(date), "start of the exposure"),
            FITSCard("MJD-OBS", .real(modifiedJulianDate), "[d] start of the exposure"),
        ]
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : min(max(self, range.lowerBound), range.upperBound)
    }
}
