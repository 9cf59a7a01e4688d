import SkyCore

/// How to go on with jobs that were handed over, for a person.
struct DetachHint {
    let lines: [String]

    /// - Parameters:
    ///   - connection: the options by which the node was reached, which the next command needs too.
    ///   - output: where the results of scans are wanted; `nil` for jobs without results.
    init(_ jobs: [JobID], connection: [String], output: String?) {
        guard let first = jobs.first else {
            lines = []
            return
        }
        var hints = jobs.count == 1 ? [("follow it", ["watch", "\(first)"])] : [("see them", [])]
        if let output {
            hints.append(
                ("then fetch \(jobs.count == 1 ? "the" : "each one's") results", ["results", "\(first)", "-o", output]))
        }
        lines = hints.map { "\($0.0): \(JobsCommandLine($0.1, connection: connection).text)" }
    }
}
