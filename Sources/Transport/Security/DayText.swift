package import FoundationEssentials

/// A moment as `date -u` shows it, for comparing clocks.
package enum DayText {
    /// `2026-11-21 02:35 UTC`.
    package static func of(_ date: Date) -> String {
        // The text is ISO 8601 in UTC: 2026-11-21T02:35:07Z.
        let text = date.ISO8601Format()
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }
}
