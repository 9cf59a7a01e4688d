/// What a task came to.
package enum TaskResult: Codable, Sendable {
    case simulated
    case inspected(ImageInfo)
    case background(BackgroundTile)
    case extracted(SectorResult)
    case preview(ImagePreview)
}

/// How an attempt ended, as its node reports it.
package enum TaskOutcome: Codable, Sendable {
    case done(TaskResult)
    /// It failed; another try may succeed.
    case fault(String)
    /// The input is bad: no try will succeed.
    case badInput(String)
    /// This node cannot reach the input; another may.
    case unavailable(String)
    /// It was not started: the lease is gone or full.
    case refused(String)
}
