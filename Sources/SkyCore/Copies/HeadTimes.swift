import DequeModule

/// When a journal was how far, so that one can tell since when a copy lacks something.
struct HeadTimes: Sendable {
    private var times: Deque<(number: UInt64, time: Duration)> = []

    /// How many times are kept: a minute of them where one is noted ten times a second.
    private static let limit = 600

    /// Notes how far the journal is.
    mutating func note(_ number: UInt64, at now: Duration) {
        if times.last?.number == number { times.removeLast() }
        times.append((number, now))
        if times.count > HeadTimes.limit { times.removeFirst() }
    }

    /// When the journal was last no further than a copy that has everything up to a batch; `nil` if that is longer ago than is known.
    func last(upTo number: UInt64) -> Duration? { times.last { $0.number <= number }?.time }
}
