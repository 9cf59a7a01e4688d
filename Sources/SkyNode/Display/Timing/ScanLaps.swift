/// How long the command's own steps of scanning an image took, by its own clock. One step follows the other, so that no time
/// between them is lost.
struct ScanLaps: Sendable {
    enum Lap: Sendable {
        /// From the command's start until it has its node.
        case start
        /// From the job's submission until the command knows of its end.
        case job
        case fetch
        case digest
        case preparation
        /// Catalogues and pictures are written side by side.
        case files
        case checkImages
    }

    /// The laps that have ended, each once.
    private(set) var seconds: [Lap: Double] = [:]
    /// How long the coordinator merged the sectors, within the fetch; `nil` if it did not say.
    var merge: Duration?
    /// How long writing the catalogues took, and drawing and writing the pictures; `nil` where that was not done.
    var catalogues: Duration?
    var pictures: Duration?
    /// When the command knew of the job's end.
    private(set) var jobEnd: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant

    /// - Parameters:
    ///   - start: how long the command took to find its node, if that belongs to this image.
    ///   - begun: when the image's turn came.
    init(start: Duration? = nil, from begun: ContinuousClock.Instant) {
        last = begun
        if let start { seconds[.start] = start.inSeconds }
    }

    /// A lap has ended, which began where the one before ended.
    mutating func end(_ lap: Lap, at now: ContinuousClock.Instant) {
        seconds[lap, default: 0] += last.duration(to: now).inSeconds
        if lap == .job { jobEnd = now }
        last = now
    }
}
