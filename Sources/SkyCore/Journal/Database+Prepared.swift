import GRDB

/// Statements that most transactions need. Each is compiled once.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first column of the first row, or 0 if there is no row.
    func number(_ sql: String) throws -> Int {
        try Int.fetchOne(cachedStatement(sql: sql)) ?? 0
    }
}
