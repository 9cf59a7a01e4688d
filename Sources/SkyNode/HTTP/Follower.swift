import NIOConcurrencyHelpers

/// The place of somebody who follows a job. It is free again with the answer, also with one that nobody has waited for.
final class Follower: Sendable {
    private let taken: NIOLockedValueBox<Int>

    private init(_ taken: NIOLockedValueBox<Int>) { self.taken = taken }

    /// `nil` where all places are taken.
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
