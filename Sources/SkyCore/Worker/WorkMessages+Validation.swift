package import Transport

// These checks are for the messages between a coordinator and the nodes that work for it. A message is a claim of another
// process, so its values have limits. The limits are far above what the program itself ever reaches, and so low that no
// calculation with the values overflows.

extension AttemptID {
    /// The most attempts at one task in one incarnation of its coordinator. The budgets for faults, losses and refusals end
    /// a task after some hundred.
    static let numberLimit = 1 << 20
    /// The most starts of one coordinator. Larger numbers do not fit the journal's integers.
    static let generationLimit = UInt64(Int64.max)

    func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (1...AttemptID.numberLimit).contains(number),
            "the number of an attempt must be 1 to \(AttemptID.numberLimit)")
        try InvalidMessage.unless(
            (0..<TaskID.countLimit).contains(task.index), "a task's index must be 0 to \(TaskID.countLimit - 1)")
        try InvalidMessage.unless(
            (1...AttemptID.generationLimit).contains(generation), "a generation must be 1 or more")
    }
}

extension CoordinatorIncarnation: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (1...AttemptID.generationLimit).contains(generation), "a generation must be 1 or more")
    }
}

extension Lease: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (0...LeaseBook.slotLimit).contains(slots), "a lease has 0 to \(LeaseBook.slotLimit) slots, not \(slots)")
    }
}

extension ReserveRequest: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try incarnation.validate()
        try InvalidMessage.unless(wanted >= 0, "a coordinator wants 0 slots or more, not \(wanted)")
        try InvalidMessage.unless(
            (1...LeaseBook.peopleLimit).contains(people ?? 1),
            "a coordinator works for 1 to \(LeaseBook.peopleLimit) people")
    }
}

extension RunRequest: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try attempt.validate()
        try task.validate()
        try InvalidMessage.unless(
            (.zero...JobRequest.longestTimeLimit).contains(timeLimit), "a time limit must be 0 to 86400 seconds")
    }
}

extension Assignment: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try incarnation.validate()
        try InvalidMessage.unless(
            attempts.count <= WorkBook.waitingLimit, "\(attempts.count) attempts in one message")
        try InvalidMessage.unless(stop.count <= WorkBook.stopLimit, "\(stop.count) stops in one message")
        for request in attempts { try request.validate() }
        for attempt in stop { try attempt.validate() }
    }
}

extension CollectRequest: ValidatedMessage {
    package func validate() throws(InvalidMessage) { try incarnation.validate() }
}

extension AttemptResult: ValidatedMessage {
    /// The results of a coordinator are numbered from 1, so no node ever comes near this number.
    static let sequenceLimit: UInt64 = 1 << 62
    /// No attempt takes longer than its time limit and the time to stop it. Another day is allowed for clocks that stood still.
    static let longestDuration = JobRequest.longestTimeLimit * 2
    /// The most bytes that a reason may have. The reasons of this program are much shorter (`FailureReason.limit`).
    static let reasonLimit = 64 << 10

    package func validate() throws(InvalidMessage) {
        try attempt.validate()
        try InvalidMessage.unless(
            (1...AttemptResult.sequenceLimit).contains(sequence), "results are numbered from 1")
        try InvalidMessage.unless(
            (.zero...AttemptResult.longestDuration).contains(duration), "an attempt takes 0 to 172800 seconds")
        if let reason = outcome.reason {
            try InvalidMessage.unless(
                reason.utf8.count <= AttemptResult.reasonLimit, "a reason of \(reason.utf8.count) bytes")
        }
        try stages?.validate()
    }
}

extension CollectReply: ValidatedMessage {
    /// The most results in one answer: as many as fit into the bytes that an answer may have, and more.
    static let resultLimit = 1 << 18

    package func validate() throws(InvalidMessage) {
        try lease?.validate()
        try InvalidMessage.unless(results.count <= CollectReply.resultLimit, "\(results.count) results in one answer")
        var last: UInt64 = 0
        for result in results {
            try result.validate()
            try InvalidMessage.unless(result.sequence > last, "results that are not in order")
            last = result.sequence
        }
        let running = attempts ?? []
        try InvalidMessage.unless(
            running.count <= WorkBook.waitingLimit + LeaseBook.slotLimit, "\(running.count) attempts on one node")
        for attempt in running { try attempt.validate() }
        if let receipts {
            try InvalidMessage.unless(receipts.count == running.count, "receipts of other attempts")
        }
    }
}
