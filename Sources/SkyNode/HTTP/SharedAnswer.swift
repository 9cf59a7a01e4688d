import NIOConcurrencyHelpers
import Transport

/// What a part of the node says, asked for once for all who want to know it at the same time, and never waited for without
/// end: however many ask, the part has one question to answer.
final class SharedAnswer<Value: Sendable>: Sendable {
    /// One question.
    private final class Inquiry: Sendable {
        let began = ContinuousClock.now
        let isAnswered = Latch()
        private let box = NIOLockedValueBox<(value: Value, at: ContinuousClock.Instant)?>(nil)

        var answer: (value: Value, at: ContinuousClock.Instant)? { box.withLockedValue { $0 } }

        func answer(_ value: Value) {
            box.withLockedValue { $0 = (value, .now) }
            isAnswered.open()
        }
    }

    private let maximumAge: Duration
    private let limit: Duration
    private let ask: @Sendable () async -> Value
    private let last = NIOLockedValueBox<Inquiry?>(nil)

    /// - Parameters:
    ///   - maximumAge: how old an answer may be that is given once more.
    ///   - limit: how long a part that is well takes at most.
    init(maximumAge: Duration, limit: Duration, ask: @escaping @Sendable () async -> Value) {
        (self.maximumAge, self.limit, self.ask) = (maximumAge, limit, ask)
    }

    /// `nil` where the part does not answer in time; at once where it has been asked for that long already.
    func value() async -> Value? {
        let (inquiry, isNew) = last.withLockedValue { last in
            if let last, last.answer.map({ $0.at.duration(to: .now) < maximumAge }) ?? true { return (last, false) }
            let new = Inquiry()
            last = new
            return (new, true)
        }
        // Not a child: a part that hangs cannot be cancelled, and a group would wait for it. It is the only one.
        if isNew { Task { [ask] in inquiry.answer(await ask()) } }
        await inquiry.isAnswered.wait(atMost: limit - inquiry.began.duration(to: .now))
        return inquiry.answer?.value
    }
}
