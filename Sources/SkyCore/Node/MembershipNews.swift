package import Transport

/// What is worth a line of log of other nodes that come and go: a node that was lost comes back under another id where it
/// has been started again, and by its name all the same.
package struct MembershipNews {
    package enum Line: Equatable {
        case joined(String)
        case left(String)
        case lost(String)
        case returned(String)
        /// It has been lost so often that no more is said of it for a while.
        case restless(String)
    }

    /// What has been lost under one name, which several nodes may have.
    private struct Losses {
        var missing = 0
        /// Since the window began.
        var count = 0
        var windowStart: Duration
    }

    /// Names of lost nodes remembered.
    static let limit = 1024
    /// How often a node's loss is told in `window`: one that is started again and again would fill the log.
    static let linesOfOne = 5
    static let window = Duration.seconds(3600)
    /// Losses told in `window` under all names together: as many nodes as a cluster has, once. Whoever has the key may make up names.
    static let lossLimit = 1024

    private var names: [NodeID: String] = [:]
    private var losses: [String: Losses] = [:]
    /// Losses told since `windowStart`.
    private var lossesTold = 0
    private var windowStart = Duration.zero

    package init() {}

    var remembered: Int { losses.count }

    /// Events begin anew, with `joined` for each of these. What ended meanwhile has been missed.
    package mutating func begins(with members: [Member]) {
        let present = Set(members.map(\.node))
        names = names.filter { present.contains($0.key) }
    }

    /// - Returns: what to log; `nil` for what passes by itself, and for what has been told.
    package mutating func line(_ event: MembershipEvent, at now: Duration) -> Line? {
        switch event {
        case .joined(let member), .back(let member):
            // One that was only silent is still known; another of its name may be lost at the time.
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
        if losses.count >= MembershipNews.limit, losses[name] == nil { losses.remove(at: losses.startIndex) }
        var record = losses[name] ?? Losses(windowStart: now)
        if now - record.windowStart >= MembershipNews.window { (record.count, record.windowStart) = (0, now) }
        record.missing += 1
        record.count += 1
        losses[name] = record
        if now - windowStart >= MembershipNews.window { (lossesTold, windowStart) = (0, now) }
        lossesTold += 1
        if record.count > MembershipNews.linesOfOne || lossesTold > MembershipNews.lossLimit { return nil }
        return record.count == MembershipNews.linesOfOne ? .restless(name) : .lost(name)
    }

    private mutating func appeared(_ name: String) -> Line? {
        guard var record = losses[name], record.missing > 0 else { return .joined(name) }
        record.missing -= 1
        losses[name] = record
        return record.count < MembershipNews.linesOfOne ? .returned(name) : nil
    }
}
