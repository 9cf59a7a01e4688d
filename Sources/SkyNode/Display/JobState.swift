import ArgumentParser
import SkyCore

/// How a job stands, in words of people.
enum JobState: String, CaseIterable {
    case running
    case paused
    case done
    case failed
    case cancelled
    case badInput = "bad-input"

    /// A job that has not ended and has a reason is paused: it cannot go on.
    init(_ job: JobListing) {
        self =
            switch job.state {
            case nil: job.reason == nil ? .running : .paused
            case .done: .done
            case .failed: .failed
            case .cancelled: .cancelled
            case .badInput: .badInput
            }
    }

    var words: String { rawValue.replacing("-", with: " ") }

    var meaning: TextStyle.Meaning? {
        switch self {
        case .running: nil
        case .done: .good
        case .paused, .cancelled: .caution
        case .failed, .badInput: .bad
        }
    }
}
