/// How often the same may be said in the log, as a value: ten times a minute, then how many more there were. Whoever is let in may
/// cause as many lines as it likes otherwise.
struct LogLimit {
    static let lines = 10
    static let window = Duration.seconds(60)
    /// Different things remembered at once. Beyond that, what is new counts as one thing.
    static let keyLimit = 256

    /// What is said, and of whom.
    struct Key: Hashable {
        var subject: String
        var peer: String
    }

    private struct Count {
        var began: Duration
        var lines = 0
        var leftOut = 0
    }

    private var counts: [Key: Count] = [:]

    /// - Returns: `nil` for no line; otherwise how many were left out since the last one.
    mutating func line(_ subject: String, of peer: String, now: Duration) -> Int? {
        var key = Key(subject: subject, peer: peer)
        if counts[key] == nil, counts.count >= LogLimit.keyLimit {
            counts = counts.filter { now - $0.value.began < LogLimit.window }
            if counts.count >= LogLimit.keyLimit { key = Key(subject: subject, peer: "") }
        }
        var count = counts[key] ?? Count(began: now)
        defer { counts[key] = count }
        if now - count.began >= LogLimit.window {
            let leftOut = count.leftOut
            count = Count(began: now, lines: 1)
            return leftOut
        }
        guard count.lines < LogLimit.lines else {
            count.leftOut += 1
            return nil
        }
        count.lines += 1
        return 0
    }
}
