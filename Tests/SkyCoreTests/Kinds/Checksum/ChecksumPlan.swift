import Base
import Glibc
import Transport

@testable import SkyCore

/// A task for each file, all at once.
struct ChecksumPlan: JobPlan {
    let request: ChecksumRequest
    private var digests: [Int: [UInt8]] = [:]

    init(request: ChecksumRequest) { self.request = request }

    mutating func begin() -> PlanStep { PlanStep(newTasks: request.paths.count, isLast: true) }

    func task(_ number: Int) -> ScanTask? {
        guard request.paths.indices.contains(number), let label = label(number) else { return nil }
        var task = ScanTask(ScanTask.Work(ChecksumWork.checksum(path: request.paths[number])), label: label)
        task.rehearsal.failsFirstAttempt = number == request.failFile
        return task
    }

    func label(_ number: Int) -> String? { "file \(number + 1)" }

    // A node that lies, or is of another version, is found out here.
    func accepts(_ number: Int, _ result: TaskResult) -> Bool {
        guard case .checksummed(let digest)? = result.value as? ChecksumResult else { return false }
        return digest.count == 32
    }

    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep {
        guard case .checksummed(let digest)? = result.value as? ChecksumResult else {
            return PlanStep(abort: SkyError(.failed, "a node answered another question than it was asked"))
        }
        digests[task] = digest
        return PlanStep(events: [.special(ChecksumEvent.checksummed(path: request.paths[task], HexText.of(digest)))])
    }

    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep { PlanStep() }

    var needsResults: Bool { true }

    var usesCache: Bool { true }

    // What decides the result, as far as it can be told without reading the file through. `stat` may block: only an
    // example asks for it here.
    func cacheKey(_ number: Int) -> CacheKey? {
        struct Identity: Codable {
            var kind = "checksum"
            var path: String
            var size: Int
            var modified: Int
        }
        var status = stat()
        guard stat(request.paths[number], &status) == 0 else { return nil }
        let identity = Identity(
            path: request.paths[number], size: Int(status.st_size),
            modified: status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec)
        return (try? CacheKey.digest(of: identity)).map { CacheKey(digest: $0) }
    }

    mutating func release() { digests = [:] }

    var results: any JobResults { Checksums(digests: digests) }
}

/// What a job of the kind came to.
struct Checksums: JobResults {
    /// By the place of the file in the request.
    var digests: [Int: [UInt8]]

    var byteCount: Int { 1024 + 64 * digests.count }
}

/// Some checksums, in the order of the files.
struct ChecksumPage: ResultsPage {
    static var name: String { "checksums" }

    var digests: [Int: [UInt8]]
    /// The number of files of all pages.
    var total: Int

    init(from: Int, of job: EndedJob) {
        let all = (job.results as? Checksums)?.digests ?? [:]
        let files = all.keys.sorted().drop { $0 < from }.prefix(1000)
        digests = all.filter { files.contains($0.key) }
        total = all.count
    }
}
