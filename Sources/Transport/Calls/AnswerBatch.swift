/// Answers that have come in together on one link. Their callers are found at once, and resumed one after the other: so they call
/// again at about the same time, and their next calls leave together.
struct AnswerBatch {
    private struct Entry {
        let call: UInt64
        let answer: CallAnswer
        /// The caller; `nil` where nobody waits for the answer any more.
        var caller: (waiter: AnswerContinuation, isLate: Bool)?
    }

    /// The most answers of a batch: nobody waits for more of them to be read.
    static let limit = 64

    private var entries: [Entry] = []
    /// Callers that were found.
    private(set) var callerCount = 0

    var isEmpty: Bool { entries.isEmpty }
    var isFull: Bool { entries.count >= AnswerBatch.limit }

    mutating func append(_ answer: CallAnswer, to call: UInt64) {
        entries.append(Entry(call: call, answer: answer))
    }

    /// Takes the callers out of the table of calls.
    ///
    /// - Parameter now: when the answers came in.
    mutating func findCallers(in calls: inout CallTable<AnswerContinuation>, at now: Duration) {
        for index in entries.indices {
            entries[index].caller = calls.answer(entries[index].call, at: now)
            if entries[index].caller != nil { callerCount += 1 }
        }
    }

    /// Resumes the callers. The batch is empty afterwards.
    mutating func resumeCallers() {
        for entry in entries {
            guard let caller = entry.caller else { continue }
            if caller.isLate {
                caller.waiter.resume(throwing: TransportError.deadlineExceeded)
            } else {
                caller.waiter.resume(returning: entry.answer)
            }
        }
        entries.removeAll(keepingCapacity: true)
        callerCount = 0
    }
}
