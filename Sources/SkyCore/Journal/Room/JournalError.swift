import Base

/// Why a journal cannot be used. When this is thrown, nothing has been overwritten.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// Another process has the journal open.
        case inUse
        /// A later version of this program made the journal.
        case newer
        /// The file is not a journal, or it is damaged.
        case damaged
        /// What is stored of one job is damaged. Everything else may be used.
        case damagedJob
        /// The journal's file was deleted, or another file was put in its place.
        case gone
        /// The folder or file cannot be made, read or written.
        case inaccessible
        /// There is no copy to store it on too, at present.
        case unprotected
        /// What a node promises to others cannot be stored.
        case unpromised
        /// Another node goes on with it.
        case superseded
        /// There is no room at present.
        case full
    }

    package let kind: Kind
    /// The message is one line, and names the path.
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// What other nodes are told that cannot store copies here; `nil` where it is only that there is no room.
    var reasonForOthers: String? { kind == .full ? nil : PrintableText.of(message) }
}
