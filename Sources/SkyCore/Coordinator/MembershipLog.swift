import Base
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

    /// How many lost nodes are named, and for how long: a machine that is away for longer is hardly cut off, and at work.
    static let lostLimit = 256
    static let lostTime = Duration.seconds(24 * 3600)

    private(set) var members: [NodeID: Member] = [:]
    /// The nodes that were lost, in that order. One that comes back, or starts again under its name, is none of them.
    private var lostMembers: [LostMember] = []
    /// The names of nodes that were members since this node's start.
    private var heard: Set<String> = []
    private static let heardLimit = 4096
    private var entries: [Entry] = []
    private(set) var nextNumber: UInt64 = 0

    /// Adds an event. Returns `false` for an event that changes nothing, as when the feed of events has begun again.
    ///
    /// - Parameter uptime: the time since this node's start.
    mutating func append(_ event: MembershipEvent, time: UInt64, uptime: Duration) -> Bool {
        if case .lost(let node) = event, let member = members[node] {
            lostMembers.removeAll { $0.name == member.name }
            lostMembers.append(LostMember(name: member.name, since: uptime))
            if lostMembers.count > MembershipLog.lostLimit { lostMembers.removeFirst() }
        }
        switch event {
        case .joined(let member):
            if heard.count < MembershipLog.heardLimit { heard.insert(member.name) }
            guard members.updateValue(member, forKey: member.node) == nil else { return false }
            lostMembers.removeAll { $0.name == member.name }
        case .back(let member):
            members[member.node] = member
            lostMembers.removeAll { $0.name == member.name }
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

    /// The nodes that were lost and are not back, the one that was lost last at the end.
    func lost(at uptime: Duration) -> [LostMember] {
        // A machine may run two nodes of one name: while one of them is there, the machine is.
        let present = Set(members.values.map(\.name))
        return lostMembers.filter { uptime - $0.since < MembershipLog.lostTime && !present.contains($0.name) }
    }

    /// Adds the nodes that another node lost before this one was there to notice. This node knows better about those that it has heard.
    ///
    /// - Parameters:
    ///   - told: what the other one says, by its own time.
    ///   - theirs: how long that one has run.
    mutating func learn(_ told: [LostMember], at uptime: Duration, theirs: Duration) {
        var known = heard.union(lostMembers.map(\.name))
        for var member in told.suffix(MembershipLog.lostLimit) where known.insert(member.name).inserted {
            member.since = uptime - max(.zero, theirs - member.since)
            lostMembers.append(member)
        }
        lostMembers.sort { $0.since < $1.since }
        lostMembers.removeFirst(max(0, lostMembers.count - MembershipLog.lostLimit))
    }

    /// The entries from `number` on; `nil` where they are not known, or not any more.
    func entries(from number: UInt64) -> [Entry]? {
        guard number <= nextNumber, number >= entries.first?.number ?? nextNumber else { return nil }
        return Array(entries.drop { $0.number < number })
    }
}

/// A node whose link ended without a goodbye: it is off, or cut off and still at work.
package struct LostMember: Codable, Hashable, Sendable {
    package var name: String
    /// When it was lost, since the start of the node that says so.
    package var since: Duration

    /// Nodes that a line names.
    private static let named = 3

    package init(name: String, since: Duration) { (self.name, self.since) = (name, since) }

    /// "pc1 was lost", "pc1, pc2 were lost".
    package static func words(_ lost: [LostMember]) -> String {
        let names = lost.map { PrintableText.of($0.name) }.sorted()
        let further = names.count - named
        return names.prefix(named).joined(separator: ", ")
            + (further > 0 ? " and \(further) more were lost" : names.count == 1 ? " was lost" : " were lost")
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
    /// The nodes that were lost and are not back, where the watcher needs the whole list; `nil` from nodes of earlier versions, too.
    package var lost: [LostMember]?
}
