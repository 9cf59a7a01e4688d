public import Logging

extension CallTrace {
    /// Puts the trace of the current task into the metadata of log lines, as `trace`, sixteen hexadecimal digits.
    ///
    /// The transport's own lines have it. For those of an application:
    ///
    ///     LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: CallTrace.metadataProvider)
    public static let metadataProvider = Logger.MetadataProvider {
        let trace = CallTrace.current
        return trace == 0 ? [:] : ["trace": "\(NodeID(rawValue: trace))"]
    }
}
