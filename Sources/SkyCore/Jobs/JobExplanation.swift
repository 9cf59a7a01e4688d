/// Why a job waits, in words.
package struct JobExplanation: Codable, Sendable {
    /// One requirement for nodes, and how many nodes meet it together with all requirements before it.
    package struct Requirement: Codable, Sendable {
        package var name: String
        package var nodes: Int
    }

    /// A task that has been tried and is not done.
    package struct OpenTask: Codable, Sendable {
        package var task: String
        /// The node on which the task runs; `nil` if it does not run.
        package var node: String?
        /// The time since the task was sent there.
        package var runningFor: Duration?
        /// The number of attempts in this incarnation of the coordinator.
        package var attempts: Int
        package var lastEvent: String
    }

    /// The reasons why the job waits, the most important one first.
    package var reasons: [String]
    package var requirements: [Requirement]
    /// The tasks that have run longest come first.
    package var tasks: [OpenTask]
}
