import Base
import Transport

/// When jobs that are shown together are paused, and when they go on: once for all of them, as one full disk holds up every
/// job of a node.
struct PauseNews {
    private var paused: Set<String> = []
    private var reason: String?

    /// - Parameters:
    ///   - reason: why the job is paused; `nil` where it goes on.
    ///   - subject: which job it is.
    /// - Returns: a line where that is news.
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
