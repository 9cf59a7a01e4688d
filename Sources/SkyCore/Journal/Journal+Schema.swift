import GRDB
import Transport

extension Journal {
    /// "SkyN": tells a journal from any other database.
    private static let applicationID = 0x536B_794E

    static func prepare(_ database: Database, inMemory: Bool) throws {
        // Where the file is somebody else's, not even a setting is changed.
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0
        let owner = try Int.fetchOne(database, sql: "PRAGMA application_id")
        guard isEmpty || owner == applicationID else {
            throw JournalError(.damaged, "it is a database, but not a journal of this program")
        }
        if isEmpty {
            try database.execute(sql: "PRAGMA application_id = \(applicationID)")
            try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        }
        if !inMemory { try database.execute(sql: "PRAGMA journal_mode = WAL") }
        // A process may die at any time without losing what was stored; see the class about power.
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
    }

    static func migrate(_ queue: DatabaseQueue) throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    -- closed: whether its last life ended in order.
                    CREATE TABLE coordinator(
                        id INTEGER NOT NULL, generation INTEGER NOT NULL, closed INTEGER NOT NULL);
                    -- request and report are JSON; times are milliseconds since 1970.
                    CREATE TABLE job(
                        number INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL UNIQUE, token TEXT UNIQUE,
                        request BLOB NOT NULL, submitted INTEGER NOT NULL, report BLOB, ended INTEGER);
                    -- key: the job's number times 2^31, plus the task. One tree for all, in the order of tasks.
                    CREATE TABLE result(
                        key INTEGER PRIMARY KEY, node TEXT NOT NULL, duration INTEGER NOT NULL, payload BLOB NOT NULL);
                    CREATE TABLE failure(
                        key INTEGER PRIMARY KEY, reason TEXT NOT NULL, isBadInput INTEGER NOT NULL);
                    CREATE TABLE risk(
                        key INTEGER NOT NULL, node INTEGER NOT NULL, alone INTEGER NOT NULL, PRIMARY KEY (key, node))
                        WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2") { database in
            try database.execute(
                sql: """
                    -- Earlier results, by what decides them. used: when last, in milliseconds since 1970; size: bytes of payload.
                    CREATE TABLE cache(
                        key BLOB PRIMARY KEY, used INTEGER NOT NULL, size INTEGER NOT NULL, payload BLOB NOT NULL)
                        WITHOUT ROWID;
                    CREATE INDEX cacheUse ON cache(used, size);
                    """)
        }
        migrator.registerMigration("3") { database in
            // The version whose results a job has.
            try database.execute(sql: "ALTER TABLE job ADD COLUMN program TEXT")
        }
        if try queue.read(migrator.hasBeenSuperseded) {
            throw JournalError(.newer, "it was made by a later version of this program")
        }
        try migrator.migrate(queue)
    }

    /// Notes one more start of the coordinator.
    static func beginLife(_ database: Database) throws -> (life: CoordinatorLife, wasClosed: Bool) {
        if try Int.fetchOne(database, sql: "SELECT count(*) FROM coordinator") == 0 {
            let id = Int64(bitPattern: CoordinatorID.random().rawValue)
            try database.execute(sql: "INSERT INTO coordinator VALUES (?, 0, 1)", arguments: [id])
        }
        guard let row = try Row.fetchOne(database, sql: "SELECT id, generation, closed FROM coordinator"),
            let id = row["id"] as Int64?, let generation = row["generation"] as Int64?, generation >= 0,
            let closed = row["closed"] as Bool?
        else { throw JournalError(.damaged, "it does not say whose it is") }
        try database.execute(sql: "UPDATE coordinator SET generation = ?, closed = 0", arguments: [generation + 1])
        let coordinator = CoordinatorID(rawValue: UInt64(bitPattern: id))
        return (CoordinatorLife(coordinator, generation: UInt64(generation + 1)), closed)
    }
}
