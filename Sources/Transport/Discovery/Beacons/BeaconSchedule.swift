/// When to send a beacon, as a value: a few close together at the start, because datagrams get lost and a newcomer
/// wants to be seen at once, then every few seconds, and soon after somebody asks.
package struct BeaconSchedule {
    package enum Event {
        case started
        /// This node can be reached elsewhere than before, or by other ways.
        case changed
        /// Somebody asked who is there.
        case solicited
        /// The wait returned before is over.
        case due
    }

    /// What to do: send a beacon of the kind (or nothing), then come back with `.due` after the pause.
    package struct Step: Equatable {
        package var send: Beacon.Kind?
        package var pause: Duration
    }

    /// Pauses after the first beacons.
    static let opening: [Duration] = [.milliseconds(100), .milliseconds(400)]
    /// Usual pause, give or take a quarter, so that a hundred nodes switched on together do not beat in time.
    static let interval = Duration.seconds(4)
    /// With more nodes than these the pause grows with their number, to at most so many times the usual one.
    static let fullRateMembers = 16
    static let longestFactor = 4.0
    /// An answer waits a random part of this, so that the answers of many do not collide.
    static let answerSpread = Duration.milliseconds(20)
    /// At most one answer in this time, however many ask: a flood of questions must not become a flood of answers.
    static let answerInterval = Duration.milliseconds(100)

    private var sent = 0
    private var lastSent: Duration?
    /// Whether the next beacon is an answer.
    private var answers = false
    private var generator: any RandomNumberGenerator & Sendable

    package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// Usual pause of a node that knows so many. Every beacon wakes up every node.
    static func interval(members: Int) -> Duration {
        interval * min(max(1, Double(members) / Double(fullRateMembers)), longestFactor)
    }

    /// Whether to answer a node that asks and has no link to this one. It has said where it is, and is dialled; of many,
    /// some by chance answer, so that a thousand newcomers do not bring forth a million answers.
    package mutating func answersNewcomer(members: Int) -> Bool {
        members <= BeaconSchedule.fullRateMembers
            || Int.random(in: 0..<members, using: &generator) < BeaconSchedule.fullRateMembers
    }

    /// - Parameter members: how many nodes are known.
    package mutating func handle(_ event: Event, now: Duration, members: Int = 0) -> Step {
        switch event {
        case .started, .changed:
            // A way that is new has others on it who have not heard of this node, and of whom it has not heard.
            (sent, answers) = (1, false)
            lastSent = now
            return Step(send: .solicit, pause: BeaconSchedule.opening[0])
        case .due:
            // Half of it after an answer: who asks may be in doubt about this node, and what has been heard of it keeps
            // its link for so long only (`Liveness.vouched`).
            let usual = BeaconSchedule.interval(members: members) * (answers ? 0.5 : 1)
            let pause =
                sent < BeaconSchedule.opening.count
                ? BeaconSchedule.opening[sent] : usual * Double.random(in: 0.75...1.25, using: &generator)
            sent += 1
            (lastSent, answers) = (now, false)
            // The second goes out as a question too: the first may have been lost.
            return Step(send: sent == 2 ? .solicit : .announce, pause: pause)
        case .solicited:
            answers = true
            let spread = BeaconSchedule.answerSpread * Double.random(in: 0...1, using: &generator)
            let earliest = (lastSent ?? .zero) + BeaconSchedule.answerInterval
            return Step(send: nil, pause: max(spread, earliest - now))
        }
    }
}
