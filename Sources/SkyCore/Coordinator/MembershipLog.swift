package import Transport

/// The recent changes of the membership, numbered, and the present members, as a value. A watcher asks for the entries after the
/// last number that it has seen.
package struct MembershipLog {
    package struct Entry: Codable, Hashable, Sendable {
        package var number: UInt64
        /// Milliseconds since 1970, by the clock of the node that reports the event.
        package var time: UInt64
        package var event: MembershipEvent
    }

    /// The number of entries kept. A watcher that is further behind gets the members anew.
    static let limit = 1024

    private(set) var members: [NodeID: Member] = [:]
    private var entries: [Entry] = []
    private(set) var nextNumber: UInt64 = 0

    /// Adds an event. Returns `false` for an event that changes nothing, as when the feed of events has begun again.
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

    /// The entries from `number` on; `nil` where they are not known, or not any more.
    func entries(from number: UInt64) -> [Entry]? {
        guard number <= nextNumber, number >= entries.first?.number ?? nextNumber else { return nil }
        return Array(entries.drop { $0.number < number })
    }
}

/// A request for changes of the membership.
package struct MembershipRequest: Codable, Sendable {
    /// The first number requested; `nil` requests the members first.
    package var from: UInt64?
    /// How long to wait where nothing has happened. Ten seconds is the maximum.
    package var patience: Duration

    package init(from: UInt64?, patience: Duration) {
        self.from = from
        self.patience = patience
    }
}

/// Changes of the membership.
package struct MembershipPage: Codable, Sendable {
    /// All members, including the answering node, where the watcher needs the whole list anew; otherwise `nil`.
    package var members: [Member]?
    package var entries: [MembershipLog.Entry]
    /// The number to ask from next.
    package var next: UInt64
    /// Milliseconds since 1970, by the clock of the answering node.
    package var time: UInt64
    /// How long the answering node has run. `Member.since` is measured by the same clock.
    package var uptime: Duration
}
