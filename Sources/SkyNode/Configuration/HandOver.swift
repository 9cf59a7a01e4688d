import ArgumentParser

/// When a node lets others take its jobs over before it is lost.
enum HandOver: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// When it is drained.
    case drain
    /// Also each time that it stops.
    case stop
}
