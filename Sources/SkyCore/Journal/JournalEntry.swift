import Base
import Foundation
package import NIOCore

/// One thing that a coordinator must not forget. Entries are stored in the order in which they were decided, many in one
/// transaction; nothing is said to anybody before what it rests on is stored.
package enum JournalEntry: Sendable {
    case submitted(StoredJob)
    /// A task's one result.
    case result(StoredResult)
    /// A task has failed for good.
    case failed(JobID, TaskID, reason: String, isBadInput: Bool)
    ///
    /// - Parameter ran: how long the coordinator had run by then, in all its lives.
    case ended(JobID, JobReport, at: UInt64, ran: Duration)
    /// A task is about to be run on the node that keeps the journal: if that dies of it, somebody has to know.
    case risked(JobID, TaskRisk)
    /// The job with all that belongs to it.
    case deleted(JobID)

    /// About what it takes in memory.
    var byteCount: Int {
        switch self {
        case .result(let result): 128 + result.payload.readableBytes
        case .submitted(let job): 1024 + (job.encodedRequest?.count ?? 0)
        case .failed(_, _, let reason, _): 128 + reason.utf8.count
        case .ended, .risked, .deleted: 1024
        }
    }

    var job: JobID {
        switch self {
        case .submitted(let job): job.id
        case .result(let result): result.job
        case .failed(let job, _, _, _), .ended(let job, _, _, _), .risked(let job, _), .deleted(let job): job
        }
    }

    var isDeletion: Bool { if case .deleted = self { true } else { false } }
}

/// A job as it is stored.
package struct StoredJob: Sendable {
    package var id: JobID
    /// What the submitter called it, so that a submission that is repeated does not start it twice.
    package var token: String?
    package var request: JobRequest
    /// The version of the program that its results are of; `nil` where that was not noted.
    package var program: String?
    /// Milliseconds since 1970.
    package var submitted: UInt64
    /// `nil` while it goes on.
    package var report: JobReport?
    /// Milliseconds since 1970; `nil` while it goes on.
    package var ended: UInt64?
    /// How long its coordinator had run when it was submitted and when it ended, in all its lives; `nil` where that was not
    /// noted.
    var submittedRun: Duration?
    var endedRun: Duration?
    /// The first life of the coordinator whose results count; `nil` for any.
    var resultsSince: UInt64?
    /// The request as it is to be stored, so that it is written down once; `nil` of what was read.
    var encodedRequest: Data?

    package init(
        id: JobID, token: String?, request: JobRequest, program: String? = SkyNetVersion.current, submitted: UInt64,
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
    /// The name of the node that brought it; empty for an earlier result.
    package var node: String
    package var duration: Duration
    /// A `TaskResult`, encoded.
    package var payload: ByteBuffer
    /// Where it may answer other tasks later.
    package var cacheKey: CacheKey?

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
}
