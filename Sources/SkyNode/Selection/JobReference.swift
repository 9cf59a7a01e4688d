import Base
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
