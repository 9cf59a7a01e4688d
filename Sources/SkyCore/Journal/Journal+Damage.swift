import Foundation
import GRDB
import Glibc

// MARK: - Looking for damage

extension Journal {
    /// Looks for damage in the file of a journal that is in use: in the structure of the whole file, and in each row by its checksum.
    /// It has a connection of its own, so that entries are stored meanwhile. It takes as long as to read the file.
    ///
    /// - Returns: what is damaged; `nil` where nothing is, or where that cannot be told.
    static func damage(in path: String) -> String? {
        guard isUsable(path) else { return "it is no file that this node can read and write" }
        guard FileInode.size(of: path) > 0 else { return "it is empty" }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.label = "scrub"
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            let words = try queue.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
            if let words, words != "ok" { return words }
            for table in CheckedTable.allCases {
                var last: Int64? = .min
                while let key = last { last = try queue.read { try table.check(after: key, in: $0) } }
            }
            return nil
        } catch let error as JournalError {
            return error.message
        } catch let error as DatabaseError {
            // What cannot be read from the disk is as good as damaged. Other errors are about something else.
            let isDamage = [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_ERROR].contains(error.resultCode)
            return isDamage ? error.message ?? error.resultCode.description : nil
        } catch {
            return nil
        }
    }

    /// Whether there is a file that this process may read and write, and nothing else has the names of those beside it.
    static func isUsable(_ path: String) -> Bool {
        DatabaseFile.suffixes.allSatisfy { suffix in
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { return !suffix.isEmpty && errno == ENOENT }
            return status.st_mode & S_IFMT == S_IFREG && access(path + suffix, R_OK | W_OK) == 0
        }
    }

    /// The tables whose rows have checksums, but for the earlier results: no copy has those.
    private enum CheckedTable: String, CaseIterable {
        case job, result, failure

        /// How many rows are read at a time, so that the write-ahead log can be brought into the file between two times.
        private static let count = 1000

        /// - Returns: the last key that was read; `nil` after the last row.
        func check(after key: Int64, in database: Database) throws -> Int64? {
            let column = self == .job ? "number" : "key"
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT * FROM \(rawValue) WHERE \(column) > ? ORDER BY \(column) LIMIT \(CheckedTable.count)",
                arguments: [key])
            var (last, found): (Int64?, Int) = (nil, 0)
            while let row = try rows.next() {
                (last, found) = (row[column], found + 1)
                guard isWhole(row) else { throw JournalError(.damaged, "a row of \(rawValue) is not what was written") }
            }
            return found < CheckedTable.count ? nil : last
        }

        private func isWhole(_ row: Row) -> Bool {
            switch self {
            case .job:
                guard let id = Int64.fromDatabaseValue(row["id"]), let request = Data.fromDatabaseValue(row["request"])
                else { return false }
                return Journal.isWhole(
                    row["checksum"], RowChecksum.job(id, String.fromDatabaseValue(row["token"]), request))
                    && Journal.isWhole(
                        row["reportChecksum"], RowChecksum.report(id, Data.fromDatabaseValue(row["report"])))
            case .result:
                guard let key = Int64.fromDatabaseValue(row["key"]), let node = String.fromDatabaseValue(row["node"]),
                    let duration = Int64.fromDatabaseValue(row["duration"]),
                    let payload = Data.fromDatabaseValue(row["payload"])
                else { return false }
                return Journal.isWhole(row["checksum"], RowChecksum.result(key, node, duration, payload))
            case .failure:
                guard let key = Int64.fromDatabaseValue(row["key"]),
                    let reason = String.fromDatabaseValue(row["reason"]),
                    let isBadInput = Bool.fromDatabaseValue(row["isBadInput"])
                else { return false }
                return Journal.isWhole(row["checksum"], RowChecksum.failure(key, reason, isBadInput))
            }
        }
    }
}
