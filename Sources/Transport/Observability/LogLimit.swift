/// How often the same line may be logged, as a value: ten times a minute, and then the number of further ones. Otherwise a peer
/// that is let in could cause as many lines as it likes.
struct LogLimit {
    static let lines = 10
    static let window = Duration.seconds(60)
    /// How many different lines are remembered at once. Beyond that, new lines on one subject count as one, whatever their peers.
    static let keyLimit = 256

    /// What a line says, and about which peer.
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

    /// - Returns: `nil` where the line is not to be logged; otherwise how many lines were left out since the last one.
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
