/// Why work could not be done, such as the scan of an image or a task of any job, in one line for the person who asked
/// for it.
public struct SkyError: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// What the scheduler may do about it.
    public enum Kind: String, Codable, Sendable {
        /// What was asked for, or a file, is not what it should be. Another attempt will not help, here or elsewhere.
        case badInput
        /// This node cannot reach the file; another node may.
        case unavailable
        /// The work itself failed, for example for lack of memory. Another attempt may succeed.
        case failed
    }

    public var kind: Kind
    /// One line without the program's name: the file, what is wrong, and what to do if that is known.
    public var message: String

    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }

    /// Throws an error of kind `badInput` unless `condition` holds.
    package static func unless(
        _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String
    ) throws(SkyError) {
        if !condition() { throw SkyError(.badInput, message()) }
    }
}
