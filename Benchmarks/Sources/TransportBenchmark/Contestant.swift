/// One of the ways to get a message to the other end and back that are compared: an open connection.
protocol Contestant: Sendable {
    var name: String { get }

    /// Keeps the load up for `duration`.
    ///
    /// - Throws: the error that a call fails with, and `WrongEcho`.
    func run(_ load: Load, for duration: Duration) async throws -> Sample

    /// Closes the connection.
    func close() async throws
}

/// A contestant that gave back something else than it got: its figures would mean nothing.
struct WrongEcho: Error, CustomStringConvertible {
    var contestant: String
    var description: String { "\(contestant) did not give back what it was sent" }
}
