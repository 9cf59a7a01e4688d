import Base
package import Transport

extension ScanTask: ValidatedMessage {
    /// The most bytes that a task's label for people may have: "large objects 12".
    package static let labelLimit = 256

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            label.utf8.count <= ScanTask.labelLimit, "a task's label of \(label.utf8.count) bytes")
        try work.value.validate()
    }
}
