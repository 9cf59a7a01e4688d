/// When to send a beacon, as a value: a few close together at the start, because datagrams get lost and a newcomer
/// wants to be seen at once, then every few seconds, and soon after somebody asks.
package struct BeaconSchedule {
    package enum Event {
        case started
        /// This node can be reached at other addresses than before, or by other ways.
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

    /// The pauses after the first beacons.
    static let opening: [Duration] = [.milliseconds(100), .milliseconds(400)]
    /// The usual pause, give or take a quarter, so that a hundred nodes switched on together do not send at the same moments.
    static let interval = Duration.seconds(4)
    /// With more nodes than the first of these numbers, the pause grows with their number. The second number bounds it: it is at
    /// most so many times the usual pause.
    static let fullRateMembers = 16
    static let longestFactor = 4.0
    /// An answer waits a random part of this, so that the answers of many do not collide.
    static let answerSpread = Duration.milliseconds(20)
    /// There is at most one answer in this time, however many ask: a flood of questions must not become a flood of answers.
    static let answerInterval = Duration.milliseconds(100)

    private var sent = 0
    private var lastSent: Duration?
    /// Whether the next beacon is an answer.
    private var answers = false
    private var generator: any RandomNumberGenerator & Sendable

    package init(generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.generator = generator
    }

    /// The usual pause of a node that knows so many members. Every beacon wakes up every node.
    static func interval(members: Int) -> Duration {
        interval * min(max(1, Double(members) / Double(fullRateMembers)), longestFactor)
    }

    /// Whether to answer a node that asks and has no link to this one. It has said where it is, and is dialled in any case. Where
    /// there are many nodes, only some of them answer, chosen by chance, so that a thousand newcomers do not cause a million
    /// answers.
    package mutating func answersNewcomer(members: Int) -> Bool {
        members <= BeaconSchedule.fullRateMembers
            || Int.random(in: 0..<members, using: &generator) < BeaconSchedule.fullRateMembers
    }

    /// - Parameter members: how many nodes are known.
    package mutating func handle(_ event: Event, now: Duration, members: Int = 0) -> Step {
        switch event {
        case .started, .changed:
            // On a new path there are nodes that have not heard of this node, and that this node has not heard of.
            (sent, answers) = (1, false)
            lastSent = now
            return Step(send: .solicit, pause: BeaconSchedule.opening[0])
        case .due:
            // The pause is half as long after an answer: a node that asks may be in doubt about this node, and a beacon of this
            // node keeps the link for a short time only (`Liveness.confirmed`).
            let usual = BeaconSchedule.interval(members: members) * (answers ? 0.5 : 1)
            let pause =
                sent < BeaconSchedule.opening.count
                ? BeaconSchedule.opening[sent] : usual * Double.random(in: 0.75...1.25, using: &generator)
            sent += 1
            (lastSent, answers) = (now, false)
            // The second beacon is a question too, because the first may have been lost.
            return Step(send: sent == 2 ? .solicit : .announce, pause: pause)
        case .solicited:
            answers = true
            let spread = BeaconSchedule.answerSpread * Double.random(in: 0...1, using: &generator)
            let earliest = (lastSent ?? .zero) + BeaconSchedule.answerInterval
            return Step(send: nil, pause: max(spread, earliest - now))
        }
    }
}
