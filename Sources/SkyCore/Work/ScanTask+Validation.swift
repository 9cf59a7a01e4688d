import Base
package import Transport

extension ScanTask: ValidatedMessage {
    /// The most bytes that a task's label for people may have: "large objects 12".
    static let labelLimit = 256

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            label.utf8.count <= ScanTask.labelLimit, "a task's label of \(label.utf8.count) bytes")
        try work.value.validate()
    }
}

extension InvalidMessage {
    /// Turns the error of a value's own check into the error of a message's check.
    static func of(_ check: () throws(SkyError) -> Void) throws(InvalidMessage) {
        do {
            try check()
        } catch {
            throw InvalidMessage(error.message)
        }
    }
}
