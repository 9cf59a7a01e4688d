import Distributed
package import NIOCore
import Transport

/// A page of what a job came to, for those who fetch it: some sources of a catalogue, a picture. A page has a few megabytes at most,
/// because a message of a link has an end, and nobody waits long for one.
///
/// `Coordinator.results` hands out the pages of all kinds; `JobKind.pages` names those of a kind.
package protocol ResultsPage: Codable, Sendable {
    /// The name on the wire. No other page has the same one, and it never changes.
    static var name: String { get }
    /// - Parameters:
    ///   - from: which page it is: the number of the first element, from 0, where there are several. It comes from whoever asks.
    ///   - job: a job that has ended.
    /// - Throws: `RemoteError` where the job has no such results.
    init(from: Int, of job: EndedJob) throws
    /// Asks a node of a version that had a method of its own for such a page.
    static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> Self?
}

extension ResultsPage {
    /// There was none.
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> Self? { nil }
}

/// A job that has ended, for the pages of its results.
package struct EndedJob: Sendable {
    package var id: JobID
    package var results: any JobResults
    /// What the results were measured by; a job that has ended may be of an earlier program.
    package var arithmetic: String?
    /// How long it took to put the results together; `nil` where they are not kept.
    package var mergeTime: Duration?
}

/// Asks for a page.
package struct ResultsRequest: Codable, Sendable {
    package var job: JobID
    /// The name of the page.
    package var page: String
    package var from: Int

    package init(job: JobID, page: String, from: Int = 0) {
        (self.job, self.page, self.from) = (job, page, from)
    }
}

extension Coordinator {
    /// A page of the results of a job that has ended, whichever node has the job.
    ///
    /// - Returns: the encoded page.
    /// - Throws: `RemoteError` where there is no such job or page, or the job still goes on.
    package distributed func results(_ request: ResultsRequest) async throws -> ByteBuffer {
        if let other = try await elsewhere(request.job) {
            return try await forward(request.job) { try await other.results(request) }
        }
        guard let type = JobKinds.page(named: request.page) else {
            throw RemoteError(.noSuchMethod, "there are no results of this name")
        }
        return try WireCoder.encode(try type.init(from: request.from, of: try await ended(request.job)))
    }

    /// A job that has ended, with its results.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or that still goes on.
    package func ended(_ job: JobID) async throws -> EndedJob {
        let results = try await results(of: job)
        return EndedJob(id: job, results: results, arithmetic: arithmetic(of: job), mergeTime: mergeTime(of: job))
    }

    /// Fetches a page of the results of a job that has ended.
    ///
    /// - Throws: what `results` throws, and `DecodingError` for an answer that is no page.
    package nonisolated func page<Page: ResultsPage>(
        _ type: Page.Type = Page.self, of job: JobID, from: Int = 0
    ) async throws -> Page {
        do {
            let bytes = try await results(ResultsRequest(job: job, page: Page.name, from: from))
            return try WireCoder.decode(Page.self, from: bytes)
        } catch let error as RemoteError where error.kind == .noSuchMethod {
            guard let page = try await Page.ask(self, for: job, from: from) else { throw error }
            return page
        }
    }
}
