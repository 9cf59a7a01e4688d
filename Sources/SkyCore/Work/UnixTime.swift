import Foundation

/// The time of day as it goes over the wire.
package enum UnixTime {
    /// Milliseconds since 1970; 0 before.
    package static var milliseconds: UInt64 { UInt64(max(0, Date.now.timeIntervalSince1970 * 1000)) }
}
