package import Transport

/// Decides which comings and goings of other nodes are worth a line in the log. A lost node that was started again comes
/// back with another id, so it is recognised by its name.
package struct MembershipReports {
    package enum Line: Equatable {
        case joined(String)
        case left(String)
        case lost(String)
        case returned(String)
        /// The node was lost so often that nothing more is logged about it for a while.
        case restless(String)
    }

    /// How often nodes of one name were lost. Several nodes may have the same name.
    private struct Losses {
        var missing = 0
        /// The number of losses since the window began.
        var count = 0
        var windowStart: Duration
    }

    /// How many names of lost nodes are remembered.
    static let limit = 1024
    /// How many losses of one node are logged in `window`: a node that is started again and again would fill the log.
    static let linesOfOne = 5
    static let window = Duration.seconds(3600)
    /// How many losses are logged in `window` under all names together: as many as a cluster has nodes. The number is
    /// limited because anybody who has the key can make up names.
    static let lossLimit = 1024

    private var names: [NodeID: String] = [:]
    private var losses: [String: Losses] = [:]
    /// How many losses were counted for the log since `windowStart`.
    private var lossesReported = 0
    private var windowStart = Duration.zero

    package init() {}

    var remembered: Int { losses.count }

    /// The events begin anew, with `joined` for each of these members. What happened in between was missed.
    package mutating func begins(with members: [Member]) {
        let present = Set(members.map(\.node))
        names = names.filter { present.contains($0.key) }
    }

    /// - Returns: what to log; `nil` for a state that passes by itself, and for what the log says already.
    package mutating func line(_ event: MembershipEvent, at now: Duration) -> Line? {
        switch event {
        case .joined(let member), .back(let member):
            // A node that was only silent is still known, and another node of its name may be lost at the time.
            guard names.updateValue(member.name, forKey: member.node) == nil else { return nil }
            return appeared(member.name)
        case .lost(let node):
            return lost(names.removeValue(forKey: node) ?? "\(node)", at: now)
        case .left(let node):
            return .left(names.removeValue(forKey: node) ?? "\(node)")
        case .suspect, .draining:
            return nil
        }
    }

    private mutating func lost(_ name: String, at now: Duration) -> Line? {
        if losses.count >= MembershipReports.limit, losses[name] == nil { losses.remove(at: losses.startIndex) }
        var record = losses[name] ?? Losses(windowStart: now)
        if now - record.windowStart >= MembershipReports.window { (record.count, record.windowStart) = (0, now) }
        record.missing += 1
        record.count += 1
        losses[name] = record
        if now - windowStart >= MembershipReports.window { (lossesReported, windowStart) = (0, now) }
        lossesReported += 1
        if record.count > MembershipReports.linesOfOne || lossesReported > MembershipReports.lossLimit { return nil }
        return record.count == MembershipReports.linesOfOne ? .restless(name) : .lost(name)
    }

    private mutating func appeared(_ name: String) -> Line? {
        guard var record = losses[name], record.missing > 0 else { return .joined(name) }
        record.missing -= 1
        losses[name] = record
        return record.count < MembershipReports.linesOfOne ? .returned(name) : nil
    }
}
