/// What a job waits for, in words.
package struct JobExplanation: Codable, Sendable {
    /// Something a node must be or have, and how many are or have it beside all that comes before.
    package struct Requirement: Codable, Sendable {
        package var name: String
        package var nodes: Int
    }

    /// A task that has been tried and is not done.
    package struct OpenTask: Codable, Sendable {
        package var task: String
        /// Where it runs; `nil` where it does not.
        package var node: String?
        /// Since it was sent there.
        package var runningFor: Duration?
        /// In this life of the coordinator.
        package var attempts: Int
        package var lastEvent: String
    }

    /// What it waits for, the most important first.
    package var reasons: [String]
    package var requirements: [Requirement]
    /// Those that run longest first.
    package var tasks: [OpenTask]
}
