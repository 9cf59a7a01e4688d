/// How the coordinator treats one job among others.
package struct JobOptions: Hashable, Codable, Sendable {
    /// Jobs of a higher priority get every slot that they can use before jobs of a lower one. Jobs of equal priority share.
    package var priority = 0
    /// How many retries a task has after its own faults; `nil` for the usual number.
    package var retries: Int?
    /// How many of these retries may be for worker processes that died; `nil` for any number.
    package var crashes: Int?
    /// Names or ids of the nodes that may run the job's tasks; empty for all nodes.
    package var use: Set<String> = []
    /// Names or ids of the nodes that may not run its tasks.
    package var avoid: Set<String> = []

    /// Whether the job's tasks share an input; `nil` means `false`. Such tasks should be done by few nodes, and those of
    /// one place in the input by one node.
    package var sharesInput: Bool?

    /// Whether the job's tasks may run only on nodes whose results may stand beside those of the coordinator's node; `nil`
    /// means `false`.
    package var needsAlike: Bool?

    /// Whether the submitter has files of the job that no node may have, and sends them where the nodes that could begin the job now
    /// do not have them; `nil` means `false`. The job then ends for want of them, and does not wait for other nodes.
    package var sendsInput: Bool?

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case priority, retries, crashes, use, avoid, sharesInput, needsAlike, sendsInput
    }

    /// The names are written in sorted order. The order of a set differs from process to process, and the same options must
    /// give the same text.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(priority, forKey: .priority)
        try container.encodeIfPresent(retries, forKey: .retries)
        try container.encodeIfPresent(crashes, forKey: .crashes)
        try container.encode(use.sorted(), forKey: .use)
        try container.encode(avoid.sorted(), forKey: .avoid)
        try container.encodeIfPresent(sharesInput, forKey: .sharesInput)
        try container.encodeIfPresent(needsAlike, forKey: .needsAlike)
        try container.encodeIfPresent(sendsInput, forKey: .sendsInput)
    }

    var isRestricted: Bool { namesNodes || needsAlike == true }

    /// Whether the submitter said where the job may run.
    package var namesNodes: Bool { !use.isEmpty || !avoid.isEmpty }
}
