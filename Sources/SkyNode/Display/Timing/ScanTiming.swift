import Sky
import SkyCore

/// Where the time of a scan went: the steps from the command to its files, and what the nodes worked at.
///
/// The steps follow one another: they are the critical path, and together they are the time of the whole. Of the phases of the
/// job the share of each is the time from the last task of the phase before to its own last task.
struct ScanTiming: Sendable {
    enum Step: String, CaseIterable, Sendable {
        case start, submission, header, background, seeing, sectors, unions, end, merge, fetch, digest, preparation
        case write, draw, checkImages

        init(_ phase: ScanPhase) {
            self =
                switch phase {
                case .header: .header
                case .background: .background
                case .seeing: .seeing
                case .sectors: .sectors
                case .unions: .unions
                }
        }
    }

    struct PathStep: Equatable, Sendable {
        var step: Step
        var seconds: Double
        /// The node that did the last task of a phase; empty for an earlier result, `nil` where there is none.
        var node: String?
        /// Whether it ran beside a step that took longer. It does not belong to the critical path then.
        var isBeside = false
    }

    /// What a node did.
    struct NodePart: Equatable, Sendable {
        var name: String
        var tasks: Int
        var slots: Int
        /// Seconds of work, of all its slots together.
        var seconds: Double
        var stages: [ScanStage: Double]
        /// Whether it told the stages of its work.
        var isStaged: Bool

        /// The work that belongs to no stage: the start of worker processes, and the way of work and results between them and
        /// their node.
        var other: Double { max(0, seconds - stages.values.reduce(0, +)) }
    }

    /// The most nodes of one image. A coordinator of this version never tells more apart.
    private static let nodeLimit = 1025

    private(set) var path: [PathStep]
    private(set) var nodes: [NodePart]
    /// The number of images that it is about.
    private(set) var images = 1
    /// The tasks that nodes completed, and those that earlier results answered.
    private(set) var completed: Int
    private(set) var cached: Int
    private var headers: Int
    /// Whether the coordinator was started again meanwhile.
    private(set) var isInterrupted: Bool
    /// Whether the coordinator tells what the nodes did; one of an earlier version does not.
    private(set) var isDetailed: Bool
    /// When the first job began and the last one ended.
    private var span: (from: ContinuousClock.Instant, to: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - laps: the command's own steps, as far as they have ended.
    ///   - phases: those of the image's job.
    ///   - report: how that job ended.
    init(_ laps: ScanLaps, _ phases: PhaseTimes, _ report: JobReport) {
        path = []
        nodes = (report.work ?? []).prefix(ScanTiming.nodeLimit).map(NodePart.init)
        (completed, cached, headers) = (phases.completed, phases.cached, phases.headers)
        (isInterrupted, isDetailed) = (phases.isInterrupted, report.work != nil)
        let lap = laps.seconds
        let job = lap[.job] ?? 0
        // A job in a node of the command may have begun while the command still looked for other nodes.
        let duration = ScanTiming.bounded(report.duration.inSeconds, to: job + (lap[.start] ?? 0))
        let early = max(0, duration - job)
        if let start = lap[.start] { path.append(PathStep(step: .start, seconds: start - early)) }
        if lap[.job] != nil {
            path += ScanTiming.steps(phases, submission: job + early - duration, duration: duration)
            span = laps.jobEnd.map { ($0 - .seconds(duration), $0) }
        }
        if let fetch = lap[.fetch] {
            let merge = laps.merge.map { ScanTiming.bounded($0.inSeconds, to: fetch) }
            if let merge { path.append(PathStep(step: .merge, seconds: merge)) }
            path.append(PathStep(step: .fetch, seconds: fetch - (merge ?? 0)))
        }
        if let digest = lap[.digest] { path.append(PathStep(step: .digest, seconds: digest)) }
        if let preparation = lap[.preparation] { path.append(PathStep(step: .preparation, seconds: preparation)) }
        if let files = lap[.files] { path += ScanTiming.steps(files, laps) }
        if let check = lap[.checkImages] { path.append(PathStep(step: .checkImages, seconds: check)) }
    }

    /// The steps of a job.
    private static func steps(_ phases: PhaseTimes, submission: Double, duration: Double) -> [PathStep] {
        var steps = [PathStep(step: .submission, seconds: submission)]
        var last = 0.0
        for phase in ScanPhase.allCases {
            guard let end = phases.ends[phase] else { continue }
            let seconds = max(last, bounded(end.seconds, to: duration))
            steps.append(PathStep(step: Step(phase), seconds: seconds - last, node: end.node))
            last = seconds
        }
        return steps + [PathStep(step: .end, seconds: duration - last)]
    }

    /// Writing and drawing, side by side. What took longer is on the critical path, with the time of both.
    private static func steps(_ seconds: Double, _ laps: ScanLaps) -> [PathStep] {
        let parts: [(Step, Double)] = [(.write, laps.catalogues), (.draw, laps.pictures)].compactMap { step, duration in
            duration.map { (step, bounded($0.inSeconds, to: seconds)) }
        }
        guard let longest = parts.max(by: { $0.1 < $1.1 }) else { return [PathStep(step: .write, seconds: seconds)] }
        return parts.map { step, part in
            let isBeside = step != longest.0
            return PathStep(step: step, seconds: isBeside ? part : seconds, isBeside: isBeside)
        }
    }

    /// A time that another clock measured, or that a peer claims, within a time of our own.
    private static func bounded(_ seconds: Double, to limit: Double) -> Double {
        seconds.isFinite ? max(0, min(seconds, limit)) : 0
    }

    /// Whether earlier results answered all that they can.
    var isAllCached: Bool { cached > 0 && completed <= headers }

    /// The time from the command to its files.
    var seconds: Double { path.reduce(0) { $0 + ($1.isBeside ? 0 : $1.seconds) } }

    /// The time in which nodes could have worked: that of the job, or from the first of several to the end of the last.
    var workingSeconds: Double { span.map { max(0, $0.from.duration(to: $0.to).inSeconds) } ?? 0 }

    /// How many of a node's slots were at work, on average; `nil` where there was no time to work in.
    func busySlots(of node: NodePart) -> Double? { workingSeconds > 0 ? node.seconds / workingSeconds : nil }

    /// Adds the times of another image. Images are scanned side by side, so the sum is longer than the scan of both.
    mutating func add(_ other: ScanTiming) {
        var steps = path
        for step in other.path {
            if let own = steps.firstIndex(where: { $0.step == step.step && $0.isBeside == step.isBeside }) {
                steps[own].seconds += step.seconds
            } else {
                steps.append(step)
            }
        }
        // The last task of each image may have been another node's.
        for place in steps.indices { steps[place].node = nil }
        path = Step.allCases.flatMap { step in steps.filter { $0.step == step } }
        for node in other.nodes {
            if let own = nodes.firstIndex(where: { $0.name == node.name }) {
                nodes[own].add(node)
            } else {
                nodes.append(node)
            }
        }
        nodes.sort { $0.name < $1.name }
        images += other.images
        completed += other.completed
        cached += other.cached
        headers += other.headers
        isInterrupted = isInterrupted || other.isInterrupted
        isDetailed = isDetailed && other.isDetailed
        if let other = other.span {
            span = span.map { (min($0.from, other.from), max($0.to, other.to)) } ?? other
        }
    }

    /// Adds how long the command took to find its node, which is no image's own time.
    mutating func add(start: Duration) { path.insert(PathStep(step: .start, seconds: start.inSeconds), at: 0) }
}

extension ScanTiming.NodePart {
    /// The coordinator may be any program, so its numbers are only taken if they can be added up.
    fileprivate init(_ work: NodeWork) {
        func bounded(_ duration: Duration) -> Double { max(0, min(duration.inSeconds, 1e12)) }
        (name, tasks, slots) = (work.name, work.tasks.asCount, work.slots.asCount)
        seconds = bounded(work.duration)
        // Stages of later versions belong to the rest.
        stages = Dictionary(
            uniqueKeysWithValues: ScanStage.allCases.map { ($0, bounded(work.stages[$0.rawValue])) })
        isStaged = stages.values.contains { $0 > 0 }
    }

    fileprivate mutating func add(_ other: Self) {
        tasks = (tasks + other.tasks).asCount
        slots = max(slots, other.slots)
        seconds += other.seconds
        stages.merge(other.stages, uniquingKeysWith: +)
        isStaged = isStaged && other.isStaged
    }
}
