/// Where a journal is.
package enum JournalPlace: Hashable, Sendable {
    /// In this folder.
    case folder(String)
    /// In this folder, or beside it where another node uses it.
    case firstFree(String)

    /// A node that is started again right after it was stopped finds its folder still in use, for a moment.
    private static let patience = Duration.seconds(3)

    /// - Throws: `JournalError`, of kind `inUse` after some seconds.
    package func open(limits: JournalLimits = JournalLimits()) async throws(JournalError) -> Journal {
        let path: String
        switch self {
        case .folder(let folder), .firstFree(let folder): path = folder
        }
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
}
