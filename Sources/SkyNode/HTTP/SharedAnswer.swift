import NIOConcurrencyHelpers
import Transport

/// The answer of a part of the node. It is asked for once, for all who want to know it at the same time, and nobody waits for it
/// without end: however many ask, the part has one question to answer.
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
    ///   - limit: how long a healthy part takes at most.
    init(maximumAge: Duration, limit: Duration, ask: @escaping @Sendable () async -> Value) {
        (self.maximumAge, self.limit, self.ask) = (maximumAge, limit, ask)
    }

    /// The answer; `nil` where the part does not answer in time. That comes at once where the part has been asked for so long
    /// already.
    func value() async -> Value? {
        let (inquiry, isNew) = last.withLockedValue { last in
            if let last, last.answer.map({ $0.at.duration(to: .now) < maximumAge }) ?? true { return (last, false) }
            let new = Inquiry()
            last = new
            return (new, true)
        }
        // This is not a child task: a part that hangs cannot be cancelled, and a group would wait for it. There is only one such
        // task.
        if isNew { Task { [ask] in inquiry.answer(await ask()) } }
        await inquiry.isAnswered.wait(atMost: limit - inquiry.began.duration(to: .now))
        return inquiry.answer?.value
    }
}
