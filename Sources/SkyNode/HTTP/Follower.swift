import NIOConcurrencyHelpers

/// The place of a client that follows a job. It is free again when the answer ends, even if nobody has waited for the answer.
final class Follower: Sendable {
    private let taken: NIOLockedValueBox<Int>

    private init(_ taken: NIOLockedValueBox<Int>) { self.taken = taken }

    /// Takes a place; the result is `nil` where all places are taken.
    static func place(in taken: NIOLockedValueBox<Int>) -> Follower? {
        let isFree = taken.withLockedValue { taken in
            guard taken < API.followerLimit else { return false }
            taken += 1
            return true
        }
        return isFree ? Follower(taken) : nil
    }

    deinit { taken.withLockedValue { $0 -= 1 } }
}
