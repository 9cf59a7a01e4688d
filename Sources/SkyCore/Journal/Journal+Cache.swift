import Foundation
import GRDB
import NIOCore
import NIOFoundationCompat
import Transport

extension Journal {
    /// Earlier results for these tasks, as far as there are any. Each result that is found counts as used now.
    func cached(_ keys: [TaskID: CacheKey]) async throws(JournalError) -> [TaskID: ByteBuffer] {
        let (found, damaged): ([TaskID: ByteBuffer], Int) = try await write { database in
            let now = Int64(clamping: WallClock.milliseconds)
            var found: [TaskID: ByteBuffer] = [:]
            var damaged = 0
            let select = try database.cachedStatement(sql: "SELECT payload, checksum FROM cache WHERE key = ?")
            let touch = try database.cachedStatement(sql: "UPDATE cache SET used = ? WHERE key = ?")
            for (task, key) in keys {
                let digest = Data(key.digest)
                guard let row = try Row.fetchOne(select, arguments: [digest]) else { continue }
                guard let payload = Data.fromDatabaseValue(row["payload"]),
                    Journal.isWhole(row["checksum"], RowChecksum.cache(digest, payload))
                else {
                    // The task is done again, so the damaged result is deleted.
                    try database.run("DELETE FROM cache WHERE key = ?", [digest])
                    damaged += 1
                    continue
                }
                try touch.execute(arguments: [now, digest])
                found[task] = ByteBuffer(data: payload)
            }
            return (found, damaged)
        }
        counts.withLockedValue { counts in
            counts.hits += found.count
            counts.misses += keys.count - found.count
            counts.damaged += damaged
        }
        return found
    }

    /// Keeps a result for later. The results that have not been used for the longest time make room for it.
    func remember(_ payload: Data, as key: CacheKey, in database: Database) throws {
        let (size, digest) = (payload.count, Data(key.digest))
        guard size <= limits.cache else { return }
        // The later result replaces the earlier one: it was asked for because the earlier one did not answer the task.
        try database.run(
            "INSERT OR REPLACE INTO cache(key, used, size, payload, checksum) VALUES (?, ?, ?, ?, ?)",
            [
                digest, Int64(clamping: WallClock.milliseconds), size, payload,
                RowChecksum.cache(digest, payload),
            ])
    }

    /// Brings the cache below its limit, and a tenth further, so that this is not done for every result. If the journal
    /// holds more than it may, the cache shrinks further still: results that can be made again go before jobs do.
    func evict(from database: Database) throws {
        let total = try database.number("SELECT coalesce(sum(size), 0) FROM cache INDEXED BY cacheUse")
        var excess = total > limits.cache ? total - limits.cache / 10 * 9 : 0
        let room = try room(database)
        let over = room.held - room.limit
        if over > 0 {
            excess = max(excess, over + limits.cache / 10)
            // They are kept for copies that lack a few. After a restart, such a copy is made anew.
            try database.run("DELETE FROM batch", [])
        }
        guard excess > 0, total > 0 else { return }
        var keys: [Data] = []
        let rows = try Row.fetchCursor(database, sql: "SELECT key, size FROM cache ORDER BY used, key")
        while excess > 0, let row = try rows.next() {
            excess -= row["size"]
            keys.append(row["key"])
        }
        for key in keys { try database.run("DELETE FROM cache WHERE key = ?", [key]) }
        counts.withLockedValue { $0.evictions += keys.count }
    }

    /// Brings the journal below its limit, as far as earlier results, batches kept for copies and the write-ahead log allow. Entries do
    /// the same; this is for a limit that has become lower while none comes.
    ///
    /// - Returns: how much it holds now, and how much it may hold.
    func keepToLimit() async throws(JournalError) -> JournalRoom {
        let room = try await withQueue { [self] database in
            try database.transaction { try evict(from: $0) }
            return try roomWithLog(database)
        }
        guard room.isFull else { return room }
        await checkpoint()
        return try await withQueue { [self] in try roomWithLog($0) }
    }

    /// How much the journal keeps, and how much room that takes.
    package func usage() async throws(JournalError) -> JournalUsage {
        let (counts, limits) = (counts.withLockedValue { $0 }, limits)
        return try await read { [self] database in
            try checkFile()
            let room = try room(database)
            let row = try Row.fetchOne(
                database,
                sql: "SELECT count(*) AS results, coalesce(sum(size), 0) AS bytes FROM cache INDEXED BY cacheUse")
            return JournalUsage(
                bytes: room.held, limit: room.limit,
                jobs: try Int.fetchOne(database, sql: "SELECT count(*) FROM job") ?? 0,
                cachedResults: row?["results"] ?? 0, cacheBytes: row?["bytes"] ?? 0, cacheLimit: limits.cache,
                hits: counts.hits, misses: counts.misses, evictions: counts.evictions)
        }
    }
}
