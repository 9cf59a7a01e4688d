import Base
package import Transport

extension ScanTask: ValidatedMessage {
    /// Bytes of what people call a task: "large objects 12".
    static let labelLimit = 256

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            label.utf8.count <= ScanTask.labelLimit, "a task's label of \(label.utf8.count) bytes")
        try work.value.validate()
    }
}

extension InvalidMessage {
    /// Says of a value's own check what a message's check says.
    static func of(_ check: () throws(SkyError) -> Void) throws(InvalidMessage) {
        do {
            try check()
        } catch {
            throw InvalidMessage(error.message)
        }
    }
}
