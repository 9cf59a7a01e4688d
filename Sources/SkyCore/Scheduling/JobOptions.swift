/// How one job is to be treated among others.
package struct JobOptions: Hashable, Codable, Sendable {
    /// Jobs of a higher priority get every slot they can use before those of a lower one; equal ones share.
    package var priority = 0
    /// Retries after a task's own faults; `nil` for the usual number.
    package var retries: Int?
    /// How many of these may be for worker processes that died; `nil` for any.
    package var crashes: Int?
    /// Names or ids of the nodes that may have its tasks; empty for all.
    package var use: Set<String> = []
    /// Names or ids of nodes that may not.
    package var avoid: Set<String> = []

    /// Whether its tasks share an input, so that they had better be done by few nodes, and those of one place by one; `nil` as
    /// `false`.
    package var sharesInput: Bool?

    /// Whether only nodes may have its tasks whose results may stand beside those of the coordinator's; `nil` as `false`.
    var needsAlike: Bool?

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case priority, retries, crashes, use, avoid, sharesInput, needsAlike
    }

    /// Names are written in their order: a set has another one in each process, and the same options are to be the same text.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(priority, forKey: .priority)
        try container.encodeIfPresent(retries, forKey: .retries)
        try container.encodeIfPresent(crashes, forKey: .crashes)
        try container.encode(use.sorted(), forKey: .use)
        try container.encode(avoid.sorted(), forKey: .avoid)
        try container.encodeIfPresent(sharesInput, forKey: .sharesInput)
        try container.encodeIfPresent(needsAlike, forKey: .needsAlike)
    }

    var isRestricted: Bool { namesNodes || needsAlike == true }

    /// Whether whoever submitted it said where it may run.
    var namesNodes: Bool { !use.isEmpty || !avoid.isEmpty }

    func allows(_ node: NodeRecord) -> Bool {
        if needsAlike == true, !node.measuresAlike { return false }
        return names(node)
    }

    /// Whether it may run there by what whoever submitted it said.
    func names(_ node: NodeRecord) -> Bool {
        guard namesNodes else { return true }
        let id = node.id.description
        if avoid.contains(node.name) || avoid.contains(id) { return false }
        return use.isEmpty || use.contains(node.name) || use.contains(id)
    }
}
