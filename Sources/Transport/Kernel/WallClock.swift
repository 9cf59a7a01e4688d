import FoundationEssentials

/// The time of day, which machines agree on more or less.
package enum WallClock {
    /// Milliseconds since 1970; 0 before.
    package static var milliseconds: UInt64 { UInt64(max(0, Date.now.timeIntervalSince1970 * 1000)) }
}
