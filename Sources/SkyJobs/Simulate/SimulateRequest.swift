package import Base
package import SkyCore

/// The rehearsal: tasks that only take time.
package struct SimulateRequest: Codable, Sendable {
    package var tasks: Int
    package var duration: Duration
    /// Every n-th task fails its first attempt; `nil` if none does.
    package var failEvery: Int?
    /// Every n-th task kills the daemon that runs its first attempt, if that daemon allows it.
    package var crashEvery: Int?
    /// The tasks, numbered from 1, that can never be done, and how they fail; `nil` if there are none.
    package var poison: [Int: Poison]?

    /// The most tasks of one job.
    package static let taskLimit = 10_000_000

    package init(tasks: Int, duration: Duration) {
        self.tasks = tasks
        self.duration = duration
    }

    package func validate() throws(SkyError) {
        if !(1...SimulateRequest.taskLimit).contains(tasks) {
            throw SkyError(.badInput, "the number of tasks must lie between 1 and \(SimulateRequest.taskLimit)")
        }
        if duration < .zero || duration > JobRequest.longestTimeLimit {
            throw SkyError(.badInput, "the duration of a task must lie between 0 and 86400 seconds")
        }
        if let failEvery, failEvery < 1 { throw SkyError(.badInput, "--fail-every takes a number from 1") }
        if let crashEvery, crashEvery < 1 { throw SkyError(.badInput, "--crash-every takes a number from 1") }
        for task in poison?.keys.sorted() ?? [] where !(1...tasks).contains(task) {
            throw SkyError(.badInput, "--poison \(task): there are tasks from 1 to \(tasks)")
        }
    }
}

extension SimulateRequest: JSONRequest {
    package static var word: String { name }

    package static var fields: [RequestField] {
        [
            RequestField("tasks", .whole(1...taskLimit), "how many; 20 where nothing is said"),
            RequestField("seconds", .number(0...86_400), "how long each of them takes; 1 where nothing is said"),
        ]
    }

    package init(_ form: RequestForm) {
        let milliseconds = Int64(((form.number("seconds") ?? 1) * 1000).rounded())
        self.init(tasks: form.whole("tasks") ?? 20, duration: .milliseconds(milliseconds))
    }

    /// An attempt may take twice as long as is planned.
    package var taskTimeLimit: Duration? { min(max(.seconds(600), duration * 2), JobRequest.longestTimeLimit) }
}
