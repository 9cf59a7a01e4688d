/// How often something may happen, as a value: so often a second on average, and a number of times at once.
struct TokenBucket {
    let rate: Double
    let capacity: Double
    private var tokens: Double
    private var filledAt = Duration.zero

    /// - Parameters:
    ///   - rate: times a second.
    ///   - capacity: times at once after a while without any.
    init(rate: Double, capacity: Double) {
        (self.rate, self.capacity, tokens) = (rate, capacity, capacity)
    }

    /// Whether it may happen now.
    mutating func take(now: Duration) -> Bool {
        tokens = min(capacity, tokens + max(0, (now - filledAt).inSeconds) * rate)
        filledAt = max(filledAt, now)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
