/// How often each source has asked, and how often with a wrong token, as a value. The source that was silent for longest is
/// forgotten where there are too many: its buckets are the fullest.
struct SourceLimits {
    private struct Entry {
        var requests: TokenBucket
        var guesses: TokenBucket
        var lastUse: UInt64
    }

    private let limits: HTTPLimits
    private var entries: [HTTPSource: Entry] = [:]
    private var uses: UInt64 = 0

    init(limits: HTTPLimits) { self.limits = limits }

    /// Sources that are remembered.
    var count: Int { entries.count }

    /// Whether a source may ask now.
    mutating func takeRequest(_ source: HTTPSource, at now: Duration) -> Bool {
        use(source) { $0.requests.take(now: now) }
    }

    /// Whether a source that gave a wrong token may be told so at once, because that is rare.
    mutating func takeGuess(_ source: HTTPSource, at now: Duration) -> Bool {
        use(source) { $0.guesses.take(now: now) }
    }

    private mutating func use(_ source: HTTPSource, _ take: (inout Entry) -> Bool) -> Bool {
        uses += 1
        var entry =
            entries[source]
            ?? Entry(
                requests: TokenBucket(rate: limits.requestRate, capacity: limits.requestBurst),
                guesses: TokenBucket(rate: limits.guessRate, capacity: limits.guessBurst), lastUse: uses)
        entry.lastUse = uses
        if entries[source] == nil, entries.count >= limits.sources,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries[oldest.key] = nil
        }
        defer { entries[source] = entry }
        return take(&entry)
    }
}
