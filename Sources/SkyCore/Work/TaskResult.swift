package import NIOCore

/// What a task came to.
package enum TaskResult: Codable, Sendable {
    case simulated
    case inspected(ImageInfo)
    case background(BackgroundTile)
    case seeing(StarWidths)
    case extracted(SectorResult)
    case joined(JoinedObjects)
    case compared(ComparedPart)
    case preview(ImagePreview)
    case pixels(ByteBuffer)
}

/// What a worker process says of a task.
package enum TaskOutcome: Codable, Sendable {
    case done(TaskResult)
    /// It failed; another try may succeed.
    case fault(String)
    /// The worker process died.
    case crash(String)
    /// The input is bad: no try will succeed.
    case badInput(String)
    /// This node cannot reach the input; another may.
    case unavailable(String)
}
