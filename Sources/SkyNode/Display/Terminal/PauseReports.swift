import Base
import Transport

/// Reports when jobs that are shown together are paused, and when they go on. It does so once for all of them, because one full
/// disk holds up every job of a node.
struct PauseReports {
    private var paused: Set<String> = []
    private var reason: String?

    /// - Parameters:
    ///   - reason: why the job is paused; `nil` where it goes on.
    ///   - subject: which job it is.
    /// - Returns: a line where that has changed; otherwise `nil`.
    mutating func note(_ reason: String?, of subject: String) -> String? {
        guard let reason else {
            guard paused.remove(subject) != nil, paused.isEmpty else { return nil }
            self.reason = nil
            return "The job goes on."
        }
        paused.insert(subject)
        guard reason != self.reason else { return nil }
        self.reason = reason
        return "paused: \(PrintableText.of(reason))"
    }
}
