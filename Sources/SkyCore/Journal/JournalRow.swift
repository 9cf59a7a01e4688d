import Foundation
import NIOCore
import Transport

/// An entry as the tables of a journal hold it: with the texts that are stored, and without anything that only a program of the
/// same version could read. So a copy can be kept by another version.
enum JournalRow: Sendable {
    /// A job, as it was submitted.
    case job(JobRow)
    case result(ResultRow)
    case failure(job: JobID, task: Int, reason: String, isBadInput: Bool)
    /// A job has ended. Times are milliseconds.
    case report(job: JobID, text: Data, ended: Int64, endedRun: Int64)
    case risk(job: JobID, TaskRisk)
    case deletion(job: JobID)
    /// What is stored of a job's tasks is deleted, because it begins anew.
    case restart(job: JobID, program: String?, since: Int64)
    /// Whose journal it is.
    case coordinator(CoordinatorID, secret: Data)
    /// An entry that cannot be written down, and why.
    case unwritable(job: JobID, reason: String)

    struct JobRow: Sendable {
        var id: JobID
        var token: String?
        /// JSON.
        var request: Data
        /// Milliseconds since 1970.
        var submitted: Int64
        var program: String?
        /// Milliseconds.
        var submittedRun: Int64?
        /// The first generation whose results count.
        var since: Int64?
    }

    struct ResultRow: Sendable {
        var job: JobID
        var task: Int
        var node: String
        /// Nanoseconds.
        var duration: Int64
        var payload: ByteBuffer
        /// The key under which the result may answer other tasks later. Copies do not have it.
        var cacheKey: CacheKey?
    }

    init(_ entry: JournalEntry) {
        switch entry {
        case .submitted(let job):
            do {
                self = .job(
                    JobRow(
                        id: job.id, token: job.token,
                        request: try job.encodedRequest ?? JournalText.encode(job.request),
                        submitted: Int64(clamping: job.submitted), program: job.program,
                        submittedRun: job.submittedRun.map(Journal.milliseconds)))
            } catch {
                self = .unwritable(job: job.id, reason: "\(error)")
            }
        case .result(let result):
            self = .result(
                ResultRow(
                    job: result.job, task: result.task.index, node: result.node,
                    duration: Journal.nanoseconds(result.duration), payload: result.payload, cacheKey: result.cacheKey))
        case .failed(let job, let failure):
            self = .failure(
                job: job, task: failure.task.index, reason: failure.reason, isBadInput: failure.isBadInput)
        case .ended(let job, let report, let time, let ran):
            do {
                self = .report(
                    job: job, text: try JournalText.encode(report), ended: Int64(clamping: time),
                    endedRun: Journal.milliseconds(ran))
            } catch {
                self = .unwritable(job: job, reason: "\(error)")
            }
        case .risked(let job, let risk): self = .risk(job: job, risk)
        case .deleted(let job): self = .deletion(job: job)
        case .restarted(let job, let program, let since):
            self = .restart(job: job, program: program, since: Int64(clamping: since))
        }
    }

    /// About how many bytes the row takes.
    var byteCount: Int {
        switch self {
        case .job(let job): 256 + job.request.count
        case .result(let result): 64 + result.payload.readableBytes
        case .failure(_, _, let reason, _): 64 + reason.utf8.count
        case .report(_, let text, _, _): 64 + text.count
        case .risk, .deletion, .restart, .coordinator, .unwritable: 64
        }
    }

    var isDeletion: Bool { if case .deletion = self { true } else { false } }
}
