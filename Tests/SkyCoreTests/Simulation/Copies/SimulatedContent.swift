import Base

@testable import SkyCore

/// What the batches of the simulated journals carry: jobs, results and deletions, each as small as can be.
struct SimulatedContent: LogContent, Equatable {
    enum Entry: Hashable {
        case submitted(job: UInt64)
        case result(job: UInt64, task: UInt64, value: UInt64)
        case deleted(job: UInt64)
    }

    var entries: [Entry]
    let digest: UInt64
    var byteCount: Int { 64 * entries.count }
    var isMark: Bool { false }
    var needsRoom: Bool { entries.contains { if case .deleted = $0 { false } else { true } } }
    var makesRoom: Bool { entries.contains { if case .deleted = $0 { true } else { false } } }

    init(_ entries: [Entry]) {
        self.entries = entries
        digest = entries.reduce(17) { digest, entry in
            let words: [UInt64] =
                switch entry {
                case .submitted(let job): [1, job]
                case .result(let job, let task, let value): [2, job, task, value]
                case .deleted(let job): [3, job]
                }
            return words.reduce(digest) { SplitMix64.mixed($0 ^ ($1 &+ SplitMix64.step)) }
        }
    }
}

/// What a journal holds after its entries. Storing an entry twice has no further effect.
struct SimulatedRows: Equatable {
    /// The results of each job, by task.
    private(set) var jobs: [UInt64: [UInt64: UInt64]] = [:]

    mutating func append(_ content: SimulatedContent?) {
        for entry in content?.entries ?? [] {
            switch entry {
            case .submitted(let job): if jobs[job] == nil { jobs[job] = [:] }
            case .result(let job, let task, let value):
                if jobs[job] != nil, jobs[job]?[task] == nil { jobs[job]?[task] = value }
            case .deleted(let job): jobs[job] = nil
            }
        }
    }

    /// Some rows from a job on, and the job with which the next page begins.
    func page(from cursor: UInt64) -> (page: SimulatedContent, next: UInt64?) {
        let ids = jobs.keys.sorted().filter { $0 >= cursor }
        let jobsInPage = 1 + ids.count / 4
        var page: [SimulatedContent.Entry] = []
        for job in ids.prefix(jobsInPage) {
            let results = (jobs[job] ?? [:]).sorted { $0.key < $1.key }
            page.append(.submitted(job: job))
            page += results.map { .result(job: job, task: $0.key, value: $0.value) }
        }
        return (SimulatedContent(page), ids.dropFirst(jobsInPage).first)
    }
}
