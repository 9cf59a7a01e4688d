/// What one replica asks of another.
enum ReplicaRequest<Content: LogContent>: Sendable {
    case append(AppendRequest<Content>)
    case snapshot(SnapshotRequest<Content>)
    case promise(PromiseRequest)
    case takeOver(TakeOverRequest)
}

extension ReplicaRequest {
    /// The replica that asks.
    var sender: ReplicaID {
        switch self {
        case .append(let request): request.primary
        case .snapshot(let request): request.primary
        case .promise(let request): request.candidate
        case .takeOver(let request): request.primary
        }
    }
}

/// A primary sends batches, or nothing, which says that it is there.
struct AppendRequest<Content: LogContent>: Sendable {
    var term: UInt64
    var primary: ReplicaID
    /// The position before the first of the batches.
    var previous: LogPosition
    var batches: [LogBatch<Content>]
    /// How far the primary itself is.
    var head: LogPosition
    /// How far each follower is, as it has acknowledged.
    var acked: [ReplicaID: UInt64] = [:]
    /// Whether the primary waits for it to begin. What it sends then is stored also where there is little room.
    var isOpening: Bool?
    /// How many milliseconds later than usual the next call may come; `nil` for none.
    var pause: UInt64?
}

/// A primary sends a part of its whole journal to a replica that lacks too much of it.
///
/// Pages of what is stored and new batches come in one sequence. A page may hold what a batch brings once more, and storing an
/// entry twice has no further effect.
struct SnapshotRequest<Content: LogContent>: Sendable {
    enum Part: Sendable {
        case page(Content)
        case batches([LogBatch<Content>])
        /// The journal is at this position now.
        ///
        /// - Parameter digest: stands for all parts before.
        case end(LogPosition, ReplicaSet, digest: UInt64)
    }

    var term: UInt64
    var primary: ReplicaID
    /// Tells one snapshot from the next.
    var id: UInt64
    /// The place of this part in the sequence, from 0, which begins a new copy.
    var number: UInt64
    var part: Part
}

/// A candidate asks for the promise not to obey a primary of an earlier term.
struct PromiseRequest: Sendable {
    var term: UInt64
    var candidate: ReplicaID
    var position: LogPosition
    /// Whether the candidate only asks whether the promise would be given.
    var isTrial: Bool
    /// Whether the primary itself hands over, so that contact with it does not count.
    var isHandOver = false
}

/// A primary asks a standby, which has everything, to take over now. It has promised the term to it.
struct TakeOverRequest: Sendable {
    var term: UInt64
    var primary: ReplicaID
    var position: LogPosition
}

/// A replica's answer, whatever it was asked.
package struct ReplicaReply: Hashable, Codable, Sendable {
    /// The highest term that it has promised.
    var promised: UInt64
    /// How far its copy is; `nil` if it has none that is whole.
    var position: LogPosition?
    /// Whether it does what it was asked.
    var isGranted: Bool
    /// Whether it has more than the one that asks.
    var isAhead = false
    /// Whether it cannot store anything now.
    var isFull = false
    /// Why it cannot, where that is not for want of room; `nil` from earlier versions.
    var reason: String?
    /// Whether the coordinator has ended for good: others had taken its jobs over, and none is left. Whatever is stored is of no use.
    var hasEnded: Bool?
    /// Whether its copy was damaged, and is to be made anew.
    var wasDamaged: Bool?
    /// Whether the primary has no use for the copy of the one that asks: it is no member, and is not to become one.
    var isUnneeded: Bool?
    /// How many bytes the copy may take there. The primary keeps its journal within that.
    var share: Int?
    /// Whether it heeds `AppendRequest.pause`.
    var heedsPause: Bool?
    /// Whom it takes for the primary, where it refuses something and is none itself.
    var primary: ReplicaID?
}

extension ReplicaRequest: Codable where Content: Codable {}
extension AppendRequest: Codable where Content: Codable {}
extension SnapshotRequest: Codable where Content: Codable {}
extension SnapshotRequest.Part: Codable where Content: Codable {}
extension PromiseRequest: Codable {}
extension TakeOverRequest: Codable {}
