import Base
import SkyCore
import Transport

/// The jobs of a node that is drained, and where they go on.
struct DrainedJobs: Sendable {
    private let node: NodeID
    private let jobs: Set<JobID>

    /// How often the nodes are asked where the jobs are.
    private static let interval = Duration.milliseconds(200)

    /// - Parameter known: the jobs before the node is drained.
    init(of node: NodeID, in known: KnownJobs) {
        self.node = node
        jobs = Set(known.entries.lazy.filter { $0.member.node == node && $0.job.state == nil }.map(\.job.id))
    }

    /// Waits until other nodes have the jobs, as long as a hand-over takes at most.
    ///
    /// - Returns: what is to be said of them; `nil` where there is nothing to say.
    func settled(_ lookup: JobLookup) async -> String? {
        guard !jobs.isEmpty else { return nil }
        let end = ContinuousClock.now + Node.handOverTime + .seconds(1)
        var last: String?
        repeat {
            if let known = try? await lookup.all() {
                last = words(known)
                if areSettled(in: known) { return last }
            }
            guard (try? await Task.sleep(for: DrainedJobs.interval)) != nil else { break }
        } while ContinuousClock.now < end
        return last ?? "skynode jobs shows where its \(DrainedJobs.jobs(jobs.count)) go on"
    }

    /// Whether all jobs are at another node, or stay where they are: because they have ended, or no other node keeps copies.
    func areSettled(in known: KnownJobs) -> Bool {
        let settled = known.entries.count { entry in
            let isMoving = entry.member.node == node && entry.job.state == nil && entry.job.hasVoters
            return jobs.contains(entry.job.id) && !isMoving
        }
        return settled == jobs.count
    }

    /// Where the jobs are: those that another node has, and those that still need the drained one.
    func words(_ known: KnownJobs) -> String? {
        let unfinished = known.entries.filter { jobs.contains($0.job.id) && $0.job.state == nil }
        let moved = Dictionary(grouping: unfinished.filter { $0.member.node != node }) {
            PrintableText.of($0.member.name)
        }.mapValues(\.count).sorted { $0.key < $1.key }
        let places = moved.map { moved.count == 1 ? $0.key : "\($0.value) at \($0.key)" }
        let count = moved.reduce(0) { $0 + $1.value }
        let stay = unfinished.count { $0.member.node == node }
        let unseen = jobs.count - known.entries.count { jobs.contains($0.job.id) }
        var words: [String] = []
        if places.count == 1 {
            words.append("its \(DrainedJobs.jobs(count)) \(count == 1 ? "goes" : "go") on at \(places[0])")
        } else if !places.isEmpty {
            words.append("its \(DrainedJobs.jobs(count)) go on: \(places.joined(separator: ", "))")
        }
        if stay > 0 {
            let them =
                stay == 1
                ? "stays there, because no other node has taken it" : "stay there, because no other node has taken them"
            words.append("\(DrainedJobs.jobs(stay)) \(them) over")
        }
        if unseen > 0 {
            words.append("\(DrainedJobs.jobs(unseen)) \(unseen == 1 ? "is" : "are") at no node that answers")
        }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    private static func jobs(_ count: Int) -> String { count == 1 ? "1 job" : "\(count) jobs" }
}

extension JobListing {
    /// Whether another node could take the job over: with one copy or none there is no majority without this one.
    fileprivate var hasVoters: Bool { copies?.copies.contains(where: \.hasVote) == true }
}
