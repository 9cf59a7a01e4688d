package import Transport

extension RemoteError {
    /// How the message begins that says that a job is not known.
    static let unknownJob = "there is no job"

    /// Whether the node that was asked knows no coordinator that has the job. Where the coordinator was lost, another node may be about
    /// to take it over.
    package var isAboutUnknownJob: Bool { kind == .failed && message.hasPrefix(RemoteError.unknownJob) }
}
