import GRDB

/// Statements that are needed with every transaction, and compiled once.
extension Database {
    func run(_ sql: String, _ arguments: StatementArguments) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first column of the first row; 0 where there is none.
    func number(_ sql: String) throws -> Int {
        try Int.fetchOne(cachedStatement(sql: sql)) ?? 0
    }
}
