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
    ///   - hasEnded: whether the job has ended. One that was cancelled while it was paused does not go on.
    /// - Returns: a line where that has changed; otherwise `nil`.
    mutating func note(_ reason: String?, of subject: String, hasEnded: Bool = false) -> String? {
        guard let reason, !hasEnded else {
            guard paused.remove(subject) != nil, paused.isEmpty else { return nil }
            self.reason = nil
            return hasEnded ? nil : "The job goes on."
        }
        paused.insert(subject)
        guard reason != self.reason else { return nil }
        self.reason = reason
        return "paused: \(PrintableText.of(reason))"
    }
}
