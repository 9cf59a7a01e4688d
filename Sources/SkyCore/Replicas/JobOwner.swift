import Transport

/// A coordinator that works on this node, as those see it who look for jobs.
protocol JobOwner: Sendable {
    /// The name of its actor.
    var name: String { get }
    var coordinatorID: CoordinatorID { get }
    /// Whether it has any jobs, also such as have ended.
    var hasJobs: Bool { get async }
    func has(_ job: JobID) async -> Bool
    /// The job that was submitted with a token.
    func job(withToken token: String) async -> JobID?
    /// What a person's jobs take there.
    func usage(of person: String) async -> PersonUsage
    /// All its jobs, the oldest first.
    func list() async -> [JobListing]
}
