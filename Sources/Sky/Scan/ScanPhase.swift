/// A phase of a scan. No phase begins before all work of the phase before it has ended.
package enum ScanPhase: String, CaseIterable, Sendable {
    case header
    case background
    case seeing
    /// The sectors, and beside them the picture.
    case sectors
    /// The objects that are larger than their sectors.
    case unions

    /// The phase of a piece of work.
    ///
    /// - Parameter label: Its name, as `ScanPhases.label(_:)` makes it; `nil` comes for the name of anything else.
    package init?(ofWork label: String) {
        switch label.split(separator: " ").first {
        case "header": self = .header
        case "background": self = .background
        case "seeing": self = .seeing
        case "sector", "picture": self = .sectors
        case "large": self = .unions
        default: return nil
        }
    }
}
