/// How much a journal may hold.
package struct JournalLimits: Hashable, Sendable {
    /// Bytes in all, from which on the oldest jobs that have ended are deleted, and new tasks wait where that does not help.
    ///
    /// What the disk has may be less: see `JournalRoom`.
    package var bytes = 20 << 30
    /// Bytes of earlier results kept for later tasks, among them; 0 keeps none.
    package var cache = 1 << 30

    package init() {}
}

/// What a journal holds.
package struct JournalUsage: Codable, Sendable {
    package var bytes: Int
    package var limit: Int
    package var jobs: Int
    package var cachedResults: Int
    package var cacheBytes: Int
    package var cacheLimit: Int
    /// Tasks that were answered by earlier results, and that were not, since this start.
    package var hits: Int
    package var misses: Int
    /// Earlier results that made room for later ones, since this start.
    package var evictions: Int
}
