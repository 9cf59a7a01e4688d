package import Transport

/// What happened to the membership of late, numbered, and who is a member now; as a value. Whoever watches asks for what
/// follows the last number it has seen.
package struct MembershipLog {
    package struct Entry: Codable, Hashable, Sendable {
        package var number: UInt64
        /// Milliseconds since 1970, by the clock of the node that tells it.
        package var time: UInt64
        package var event: MembershipEvent
    }

    /// Entries kept. Who is further behind gets the members anew.
    static let limit = 1024

    private(set) var members: [NodeID: Member] = [:]
    private var entries: [Entry] = []
    private(set) var nextNumber: UInt64 = 0

    /// Takes an event in. `false` for one that tells nothing new, as when the feed of events has begun again.
    mutating func append(_ event: MembershipEvent, time: UInt64) -> Bool {
        switch event {
        case .joined(let member):
            guard members.updateValue(member, forKey: member.node) == nil else { return false }
        case .back(let member): members[member.node] = member
        case .suspect(let node): members[node]?.state = .suspect
        case .lost(let node), .left(let node):
            guard members.removeValue(forKey: node) != nil else { return false }
        case .draining(let node, let isDraining): members[node]?.isDraining = isDraining
        }
        entries.append(Entry(number: nextNumber, time: time, event: event))
        nextNumber += 1
        if entries.count >= 2 * MembershipLog.limit { entries.removeFirst(MembershipLog.limit) }
        return true
    }

    /// What follows `number`; `nil` where that is not known (any more).
    func entries(from number: UInt64) -> [Entry]? {
        guard number <= nextNumber, number >= entries.first?.number ?? nextNumber else { return nil }
        return Array(entries.drop { $0.number < number })
    }
}

/// Asks for changes of the membership.
package struct MembershipRequest: Codable, Sendable {
    /// The first number wanted; `nil` wants the members first.
    package var from: UInt64?
    /// How long to wait where nothing has happened; ten seconds at most.
    package var patience: Duration

    package init(from: UInt64?, patience: Duration) {
        self.from = from
        self.patience = patience
    }
}

/// Changes of the membership.
package struct MembershipPage: Codable, Sendable {
    /// All members, the answering node among them, where the asker had to be told anew.
    package var members: [Member]?
    package var entries: [MembershipLog.Entry]
    /// What to ask from next.
    package var next: UInt64
    /// Milliseconds since 1970, by the clock of the answering node.
    package var time: UInt64
    /// How long that node has run; what `Member.since` counts by.
    package var uptime: Duration
}
