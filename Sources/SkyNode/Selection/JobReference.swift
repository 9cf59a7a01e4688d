import Base
import Sky
import SkyCore
import Transport

/// What a person calls a job by: its id, the id's first digits, or `@last`.
enum JobReference {
    static let last = "@last"
    /// Why `@last` does not say what is to be stopped or deleted.
    static let namesNoVictim = "name the job by its id: the newest one may be somebody else's by now"

    /// The job that is meant.
    ///
    /// - Throws: `CommandFailure` where there is none, or more; it names those that there are.
    static func find(_ text: String, in jobs: [JobListing]) throws -> JobListing {
        if text == last {
            guard let newest = newest(jobs).first else { throw CommandFailure(.usage, "this node has no jobs") }
            return newest
        }
        let found = text.isEmpty ? [] : jobs.filter { $0.id.description.hasPrefix(text.lowercased()) }
        guard let job = found.first else {
            throw CommandFailure(.usage, "there is no job \(PrintableText.of(text)); \(advice(jobs))")
        }
        guard found.count == 1 else {
            let ids = newest(found).prefix(named).map { "\($0.id)" }.joined(separator: ", ")
            throw CommandFailure(
                .usage,
                "\(found.count) jobs begin with \(PrintableText.of(text)): \(ids)\(found.count > named ? ", ..." : ""); "
                    + "write more of the id")
        }
        return job
    }

    /// The job that is meant, of those that a node has; where a whole id is given, of those that any node has.
    ///
    /// - Throws: as `find(_:in:)`.
    static func find(_ text: String, at coordinator: Coordinator) async throws -> JobListing {
        let jobs = try await coordinator.list()
        if let id = JobID(text), !jobs.contains(where: { $0.id == id }) {
            do {
                return try await coordinator.listing(id)
            } catch let error as RemoteError where error.mayBeTakenOver {
                throw error
            } catch {
                // It is said below, with the jobs that there are.
            }
        }
        return try find(text, in: jobs)
    }

    /// The scan whose results are meant, with its request.
    ///
    /// `@last` is the newest scan of the sky. What was submitted last may be a comparison or a scan with artificial stars: the
    /// command that scans submits these behind the scan itself, and keeps what they come to.
    ///
    /// - Parameter request: tells what a job was asked for; `nil` where the job has been deleted since it was listed.
    /// - Throws: `CommandFailure` where the job has no results to fetch, or where no job has.
    static func findScan(
        _ text: String, in jobs: [JobListing], request: (JobID) async throws -> JobRequest?
    ) async throws -> (job: JobID, request: SkyRequest) {
        let job = try find(text, in: jobs)
        guard text == last else {
            guard let asked = try await request(job.id) else {
                throw CommandFailure(.usage, "job \(job.id) has just been deleted")
            }
            guard let scan = asked.kind.scan else {
                throw CommandFailure(.usage, "job \(job.id) is no scan: it has no results")
            }
            guard scan.image.injection == nil else {
                throw CommandFailure(
                    .usage, "job \(job.id) scanned an image with injected stars: its catalogue is not one of the sky")
            }
            return (job.id, scan)
        }
        for job in newest(jobs) {
            if let scan = try await request(job.id)?.kind.scan, scan.image.injection == nil { return (job.id, scan) }
        }
        throw CommandFailure(.usage, "none of this node's jobs is a scan: there are no results to fetch")
    }

    /// Whether somebody who has named no command may mean a job by the text.
    static func isPossible(_ text: String) -> Bool {
        text == last || (!text.isEmpty && text.allSatisfy { $0.isHexDigit && $0.isASCII })
    }

    /// Jobs that an error names.
    private static let named = 3

    private static func newest(_ jobs: [JobListing]) -> [JobListing] {
        // Of two jobs of the same millisecond, the later one in the list is the newer one.
        jobs.enumerated().sorted { ($0.element.submitted, $0.offset) > ($1.element.submitted, $1.offset) }
            .map(\.element)
    }

    private static func advice(_ jobs: [JobListing]) -> String {
        let some = newest(jobs).prefix(named).map { "\($0.id) (\(PrintableText.of($0.title)))" }
        guard let first = some.first else { return "this node has none" }
        let words = some.count == 1 ? "the only one is \(first)" : "the newest are \(some.joined(separator: ", "))"
        return jobs.count > named ? "\(words); skynode jobs lists them all" : words
    }
}
