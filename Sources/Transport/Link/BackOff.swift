/// Growing pauses between tries to reach somebody, spread by chance so that twenty nodes that lost the same peer
/// do not all return in the same millisecond. Reset only after a completed handshake: a peer that accepts and then
/// refuses is as far away as one that does not answer.
package struct BackOff {
    /// Pause after the first failure: a daemon that restarts is usually back within it.
    package static let first = Duration.milliseconds(200)
    /// Longest pause: a machine that is switched on in the morning is found within it.
    package static let longest = Duration.seconds(5)

    private var current = BackOff.first
    private var generator: any RandomNumberGenerator & Sendable

    package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// The next pause: half of the current bound plus a random part of the other half.
    package mutating func next() -> Duration {
        let bound = current
        current = min(current * 2, BackOff.longest)
        return bound * Double.random(in: 0.5...1, using: &generator)
    }

    package mutating func reset() {
        current = BackOff.first
    }
}
