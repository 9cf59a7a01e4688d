import Transport

/// A job or a file cannot be taken now, but the same can be taken later. A command that follows its jobs waits and asks again.
///
/// It crosses the wire as itself; earlier versions read it as a failure with its message.
package struct PassingRefusal: Error, Codable, Hashable, Sendable, CustomStringConvertible {
    /// What has to change before it can be taken.
    package enum Cause: String, Codable, Sendable {
        /// Jobs that go on have to end first, which they do by themselves.
        case jobs
        /// The node cannot store it: its disk is full, or nodes with copies do not answer.
        case storage
    }

    package var cause: Cause
    /// One line without the program's name: the limit that is reached, and when that ends.
    package var message: String

    package init(_ cause: Cause, _ message: String) {
        (self.cause, self.message) = (cause, message)
    }

    package var description: String { message }

    static let declared = DeclaredError("refused for now", PassingRefusal.self)
}
