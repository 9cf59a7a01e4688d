/// How much a journal may hold.
package struct JournalLimits: Hashable, Sendable {
    /// How many bytes the journal may hold in all. Above that, the oldest jobs that have ended are deleted; if that does
    /// not help, new tasks wait.
    ///
    /// The disk may have less room than this: see `JournalRoom`.
    package var bytes = 20 << 30
    /// How many of these bytes may be earlier results that are kept for later tasks; 0 keeps none.
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
    /// Tasks that earlier results answered, and tasks that they did not answer, since this start.
    package var hits: Int
    package var misses: Int
    /// Earlier results that were deleted to make room for later ones, since this start.
    package var evictions: Int
    /// The nodes that keep a copy, of all that are stored there; `nil` where there are no copies.
    package var copies: [CopyState]?
    /// How many there are to be; `nil` from nodes of versions that do not report this.
    package var copiesWanted: Int?
    /// How many bytes copies of other nodes' journals take here; `nil` where there are none.
    package var otherCopiesBytes: Int?
    /// How many copies of other nodes' journals were damaged here since the start; `nil` from nodes of versions that do not report this.
    package var damagedCopies: Int?
    /// What the jobs of people with credentials take, in the order of names; `nil` where there are none.
    package var people: [PersonUsage]?
}
