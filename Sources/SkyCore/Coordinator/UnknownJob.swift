package import Transport

extension RemoteError {
    /// How the message begins that says that a job is not known.
    static let unknownJob = "there is no job"
    /// How it goes on where the jobs of a lost node are at no node for now.
    static let unopenedJobs = " now: the jobs of a lost node are about to be taken over, or wait for skynode jobs adopt"

    /// How it goes on where nodes were lost, one of which may have the job.
    static let outOfReach = " at the nodes in reach"

    /// Whether the node that was asked knows no coordinator that has the job. Where the coordinator was lost, another node may be about
    /// to take it over.
    package var isAboutUnknownJob: Bool { kind == .failed && message.hasPrefix(RemoteError.unknownJob) }

    /// Whether in addition nodes were lost that are not back, and one of them may have the job.
    package var mayBeOutOfReach: Bool { isAboutUnknownJob && message.contains(RemoteError.outOfReach) }

    /// Whether in addition there are jobs that are at no node for now, and the job may be one of them.
    package var mayBeTakenOver: Bool { isAboutUnknownJob && message.hasSuffix(RemoteError.unopenedJobs) }
}
