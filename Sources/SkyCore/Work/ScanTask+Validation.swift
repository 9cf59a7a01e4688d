import Sky
package import Transport

extension ScanTask: ValidatedMessage {
    /// Bytes of what people call a task: "large objects 12".
    static let labelLimit = 256

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            label.utf8.count <= ScanTask.labelLimit, "a task's label of \(label.utf8.count) bytes")
        try work.validate()
    }
}

extension ScanTask.Work: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        switch self {
        case .simulate(let simulation):
            try InvalidMessage.unless(
                (.zero...JobRequest.longestTimeLimit).contains(simulation.duration),
                "a simulated task takes 0 to 86400 seconds")
        case .sky(let work):
            try InvalidMessage.of { () throws(SkyError) in try work.validate() }
        case .pixels(let request):
            if let objection = request.objection { throw InvalidMessage(objection) }
        }
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
