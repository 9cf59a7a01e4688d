import Sky

/// Where the time of an image's scan went, as a program reads it. All times are in seconds.
struct TimingLine: Encodable {
    /// A step between the command's start and its files.
    struct Step: Encodable {
        var step: String
        var seconds: Double
        /// The node that did a phase's last task; only where one did.
        var node: String?
        /// Only where it is true: it ran beside another step that took longer, and is not in the sum.
        var isBeside: Bool?
    }

    struct Node: Encodable {
        var name: String
        var tasks: Int
        var slots: Int
        /// How long its tasks took together.
        var seconds: Double
        /// How many slots worked on average.
        var busySlots: Double?
        /// How long its tasks spent in each stage; what is in none of them is `other`.
        var stages: [String: Double]
    }

    var event = "timing"
    var subject: String
    /// The sum of the steps.
    var seconds: Double
    var steps: [Step]
    var nodes: [Node]
    /// How many tasks earlier results answered.
    var cached: Int
    var remarks: [String]?

    init(_ timing: ScanTiming, subject: String) {
        (self.subject, seconds, cached) = (subject, timing.seconds, timing.cached)
        steps = timing.path.map { step in
            Step(
                step: step.step.rawValue, seconds: step.seconds, node: step.node.flatMap { $0.isEmpty ? nil : $0 },
                isBeside: step.isBeside ? true : nil)
        }
        nodes = timing.nodes.map { node in
            var stages = Dictionary(uniqueKeysWithValues: node.stages.map { ($0.key.rawValue, $0.value) })
            stages["other"] = node.other
            return Node(
                name: node.name, tasks: node.tasks, slots: node.slots, seconds: node.seconds,
                busySlots: timing.busySlots(of: node), stages: stages)
        }
        let remarks = timing.remarks
        self.remarks = remarks.isEmpty ? nil : remarks
    }
}
