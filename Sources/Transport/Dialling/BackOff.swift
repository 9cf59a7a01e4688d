/// Growing pauses between attempts to reach a node, spread by chance so that twenty nodes that lost the same peer do not all return
/// in the same millisecond. They are reset only after a completed handshake: a peer that accepts and then refuses is as far away as
/// one that does not answer.
package struct BackOff {
    /// Pause after the first failure: a daemon that restarts is usually back within it.
    package static let first = Duration.milliseconds(200)
    /// The usual longest pause. With it and the time that a dial in vain takes, a healed network is noticed within five seconds.
    package static let longest = Duration.seconds(2)
    /// The longest pause for a node that has not been heard of for a long time.
    package static let patient = Duration.seconds(15)

    private var current = BackOff.first

    package init() {}

    /// The next pause: half of the current bound plus a random part of the other half.
    package mutating func next(
        longest: Duration = BackOff.longest, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let bound = min(current, longest)
        current = min(current * 2, longest)
        return bound * Double.random(in: 0.5...1, using: &generator)
    }

    /// Whether nothing has failed since the last success.
    package var isFresh: Bool { current == BackOff.first }

    package mutating func reset() {
        current = BackOff.first
    }
}
