import Base
import Foundation
package import NIOCore

/// One thing that a coordinator must not forget. Entries are stored in the order in which they were decided, many in one
/// transaction. Nothing is published before the entries that it depends on are stored.
package enum JournalEntry: Sendable {
    case submitted(StoredJob)
    /// The one result of a task.
    case result(StoredResult)
    /// A task has failed for good.
    case failed(JobID, StoredFailure)
    /// A job has ended.
    ///
    /// - Parameter ran: how long the coordinator had run by then, in all its incarnations.
    case ended(JobID, JobReport, at: UInt64, ran: Duration)
    /// A task is about to run on the node that keeps the journal. If that node dies of the task, the next incarnation has
    /// to know it.
    case risked(JobID, TaskRisk)
    /// The job is deleted with everything that belongs to it.
    case deleted(JobID)
    /// What is stored of the job's tasks is deleted. From now on its results come from a program of this arithmetic, and from this
    /// generation of the coordinator or a later one.
    case restarted(JobID, program: String, since: UInt64)

    /// About how many bytes the entry takes in memory.
    var byteCount: Int {
        switch self {
        case .result(let result): 128 + result.payload.readableBytes
        case .submitted(let job): 1024 + (job.encodedRequest?.count ?? 0)
        case .failed(_, let failure): 128 + failure.reason.utf8.count
        case .ended, .risked, .deleted, .restarted: 1024
        }
    }

    var job: JobID {
        switch self {
        case .submitted(let job): job.id
        case .result(let result): result.job
        case .failed(let job, _), .ended(let job, _, _, _), .risked(let job, _), .deleted(let job),
            .restarted(let job, _, _):
            job
        }
    }

    var isDeletion: Bool { if case .deleted = self { true } else { false } }
    var isResult: Bool { if case .result = self { true } else { false } }
}

/// A job as it is stored.
package struct StoredJob: Sendable {
    package var id: JobID
    /// The token that the submitter chose, so that a repeated submission does not start the job twice.
    package var token: String?
    package var request: JobRequest
    /// The arithmetic of the program that makes the job's results; `nil` if that was not stored. Versions until 0.2.0 stored their
    /// version here.
    package var program: String?
    /// Milliseconds since 1970.
    package var submitted: UInt64
    /// How the job ended; `nil` while it goes on.
    package var report: JobReport?
    /// Milliseconds since 1970; `nil` while the job goes on.
    package var ended: UInt64?
    /// How long the coordinator had run, in all its incarnations, when the job was submitted and when it ended; `nil` if
    /// that was not stored.
    var submittedRun: Duration?
    var endedRun: Duration?
    /// The first incarnation of the coordinator whose results count; `nil` if the results of any incarnation count.
    var resultsSince: UInt64?
    /// The request as it is to be stored, so that it is encoded only once; `nil` if the job was read from the journal.
    var encodedRequest: Data?

    /// About how many bytes a job takes in the file without its request and results: its report, and the row itself.
    static let rowBytes = 1024

    package init(
        id: JobID, token: String?, request: JobRequest, program: String? = JobKinds.arithmetic.text, submitted: UInt64,
        report: JobReport? = nil,
        ended: UInt64? = nil
    ) {
        self.id = id
        self.token = token
        self.request = request
        self.program = program
        self.submitted = submitted
        self.report = report
        self.ended = ended
    }
}

/// A result as it is stored.
package struct StoredResult: Sendable {
    package var job: JobID
    package var task: TaskID
    /// The name of the node that brought the result; empty for an earlier result.
    package var node: String
    package var duration: Duration
    /// A `TaskResult`, encoded.
    package var payload: ByteBuffer
    /// The key under which the result may answer other tasks later; `nil` if it may not.
    package var cacheKey: CacheKey?

    /// About how many bytes a result takes in the file without its payload: 20,000 results without one take 748 KiB.
    static let rowBytes = 40

    package init(job: JobID, task: TaskID, node: String, duration: Duration, payload: ByteBuffer) {
        self.job = job
        self.task = task
        self.node = node
        self.duration = duration
        self.payload = payload
    }
}

/// A task that failed for good, as it is stored.
package struct StoredFailure: Sendable {
    package var task: TaskID
    package var reason: String
    package var isBadInput: Bool

    /// About how many bytes it takes in the file.
    var byteCount: Int { StoredResult.rowBytes + reason.utf8.count }
}
