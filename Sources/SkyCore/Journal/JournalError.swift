/// Why a journal cannot be used. Nothing has been overwritten then.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// Another process has it open.
        case inUse
        /// A later version of this program made it.
        case newer
        /// It is not a journal, or is damaged.
        case damaged
        /// What is stored of one job is damaged; all else may be used.
        case damagedJob
        /// Its file was deleted, or another was put in its place.
        case gone
        /// The folder or file cannot be made, read or written.
        case inaccessible
        /// There is no room, for now.
        case full
    }

    package let kind: Kind
    /// One line, with the path.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }
}
