/// Where a journal is kept.
package enum JournalPlace: Hashable, Sendable {
    /// The journal is in this folder.
    case folder(String)
    /// The journal is in this folder, or in one beside it if another node uses this one.
    case firstFree(String)

    /// How long to wait for a folder that is in use. A node that is started right after it was stopped still finds its
    /// folder in use for a moment.
    private static let patience = Duration.seconds(3)

    /// - Throws: `JournalError`. It is of kind `inUse` if the folder is still in use after some seconds.
    package func open(limits: JournalLimits = JournalLimits()) async throws(JournalError) -> Journal {
        let clock = ContinuousClock()
        let end = clock.now + JournalPlace.patience
        while true {
            do throws(JournalError) {
                return try Journal(in: JournalFolder(path), limits: limits)
            } catch {
                guard error.kind == .inUse else { throw error }
                guard clock.now < end, (try? await Task.sleep(for: .milliseconds(50))) != nil else { break }
            }
        }
        switch self {
        case .folder: throw JournalError(.inUse, "\(path) is in use by another node; --data names another folder")
        case .firstFree: return try Journal(in: JournalFolder.firstFree(path), limits: limits)
        }
    }

    /// The folder; the first one where others beside it may be used.
    package var path: String {
        switch self {
        case .folder(let folder), .firstFree(let folder): folder
        }
    }

    /// Looks at what a start reads in the folder, and leaves all as it is.
    ///
    /// - Returns: whether a node uses the folder. It has it until it is started again, and has read what is there.
    /// - Throws: `JournalError`, as `open`.
    func isInUse() throws(JournalError) -> Bool {
        do throws(JournalError) {
            // The lock is held meanwhile.
            let folder = try JournalFolder.existing(path)
            if folder.isThere { try Journal.check(in: path) }
            return false
        } catch {
            guard error.kind == .inUse else { throw error }
            return true
        }
    }
}
