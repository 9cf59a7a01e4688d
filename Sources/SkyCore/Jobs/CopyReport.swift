/// Where the copies of a coordinator's journal are, and how far.
package struct CopyReport: Codable, Hashable, Sendable {
    /// The term of the primary, which works here.
    package var term: UInt64
    /// How many other nodes are to keep a copy.
    package var wanted: Int
    /// Those that keep one, or are about to.
    package var copies: [CopyState]
    /// Whether nothing counts as stored now, because too few of those that keep the jobs answer.
    package var isWaiting = false

    /// The copies that are whole but for what is on its way to them.
    package var kept: [CopyState] { copies.filter(\.isKept) }

    /// How many batches the copy lacks that lacks most.
    package var batchesBehind: UInt64 { copies.compactMap(\.behind).max() ?? 0 }

    /// For how long a copy has lacked something.
    package var secondsBehind: Double { copies.compactMap(\.secondsBehind).max() ?? 0 }
}

/// How far a node's copy of a journal is.
package struct CopyState: Codable, Hashable, Sendable {
    /// The node's name; `nil` while the node is not here.
    package var node: String?
    /// How many batches it lacks; `nil` while that is not known, or while it gets a whole new copy.
    package var behind: UInt64?
    /// Whether it has a vote, so that results count only when a majority has them.
    package var hasVote: Bool
    /// For how long it has lacked something.
    package var secondsBehind: Double?
    /// Whether it answers. `nil` from nodes of versions that do not report this.
    package var isInReach: Bool?
    /// Whether its node cannot store it now. `nil` from nodes of versions that do not report this.
    package var isFull: Bool?
    /// Why its node cannot, where that is not for want of room; `nil` also where a node of an earlier version keeps or reports it.
    package var reason: String?
    /// Whether it was damaged, and is being made anew. `nil` from nodes of versions that do not report this.
    package var wasDamaged: Bool?

    /// Whether it is whole but for what is on its way to it. Where it cannot be stored, for another reason than want of room, nobody
    /// knows what is left of it.
    package var isKept: Bool { behind != nil && isInReach != false && reason == nil }
}

/// How the copies are of all that a node coordinates: of each figure the worst.
package struct CopyHealth: Hashable, Sendable {
    /// The highest term.
    package var term: UInt64
    /// How many copies there are to be.
    package var wanted: Int
    /// How many there are.
    package var kept: Int
    package var batchesBehind: UInt64
    package var secondsBehind: Double
    /// How many coordinators have to wait, because too few of those that keep their jobs answer.
    package var waiting: Int
    /// How many coordinators of other nodes were taken over since the start.
    package var takeovers: Int
    /// How many copies of other nodes' jobs were damaged here since the start.
    package var damages: Int

    init(_ reports: [CopyReport], takeovers: Int, damages: Int) {
        term = reports.map(\.term).max() ?? 0
        wanted = reports.map(\.wanted).max() ?? 0
        kept = reports.map(\.kept.count).min() ?? 0
        batchesBehind = reports.map(\.batchesBehind).max() ?? 0
        secondsBehind = reports.map(\.secondsBehind).max() ?? 0
        waiting = reports.count(where: \.isWaiting)
        (self.takeovers, self.damages) = (takeovers, damages)
    }
}
