import SkyCore
import Transport

/// Several jobs: those that are listed, or those that are deleted.
struct JobSelection {
    /// The states of the jobs; empty for all states.
    var states: Set<JobState> = []
    /// Only jobs that have ended, and were submitted so long ago.
    var age: Duration?
    /// Only so many jobs, the newest.
    var limit: Int?

    /// - Parameter now: milliseconds since 1970.
    func select(_ jobs: [JobListing], now: UInt64) -> [JobListing] {
        let found = jobs.filter { job in
            guard states.isEmpty || states.contains(JobSelection.outcome(of: job)) else { return false }
            guard let age else { return true }
            return job.state != nil && Double(job.submitted) / 1000 + age.inSeconds <= Double(now) / 1000
        }
        return Array(found.suffix(limit ?? found.count))
    }

    /// A job that came to its end without some of its tasks has failed, as its command's exit code says.
    private static func outcome(of job: JobListing) -> JobState {
        job.state == .done && job.status.failed > 0 ? .failed : JobState(job)
    }
}
