import Base

/// An error that happened on the other side of a call.
public struct RemoteError: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    public enum Kind: UInt8, Codable, Sendable {
        /// The actor is not there (any more).
        case noSuchActor = 1
        /// The actor's type has no such method: a forged call, or another version of the program.
        case noSuchMethod = 2
        /// The arguments could not be read.
        case badArguments = 3
        /// The method threw; `message` describes the error.
        case failed = 4
        /// The node runs as many calls of this peer as it allows.
        case busy = 5
        /// The call was cancelled there.
        case cancelled = 6
        /// The arguments or the result are larger than that side takes or the link carries.
        case tooLarge = 7
        /// The node is leaving and has not begun the call.
        case leaving = 8
        /// The caller's role does not allow it.
        case notAllowed = 9
    }

    public var kind: Kind
    /// One line, at most 512 characters, without control characters.
    public var message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = PrintableText.of(message)
    }

    /// The form in which a caller gets an error that was not declared.
    init(describing error: any Error) {
        switch error {
        case let error as RemoteError: self = error
        case is CancellationError: self.init(.cancelled, "the call was cancelled")
        default: self.init(.failed, String(describing: error))
        }
    }

    public var description: String { message }
}
