import Base
import Sky
import SkyCore
import SkyJobs
import Transport

/// A job that was found, and the coordinator to be asked about it.
struct FoundJob: Sendable {
    var job: JobListing
    var coordinator: Coordinator
}

/// Finds jobs for commands, wherever they are in the cluster.
struct JobLookup: Sendable {
    /// That of the node to which the command is linked.
    let coordinator: Coordinator
    /// Whether that node's jobs are meant only.
    var isHere = false

    /// How long the node has to say which jobs are at no node.
    private static let patience = Duration.seconds(3)

    /// The jobs of all nodes.
    ///
    /// - Throws: what the node that is asked throws, where it does not answer, or where its jobs are meant only.
    func all() async throws -> KnownJobs {
        let cluster = WholeCluster(coordinator: coordinator)
        guard !isHere else {
            let answer = WholeCluster.Answer(
                member: try await cluster.ownMember, result: .success(try await coordinator.list()))
            return KnownJobs(WholeCluster.Answers(nodes: [answer]), isHere: true)
        }
        async let waiting = waiting()
        return KnownJobs(try await cluster.ask { try await $0.list() }, waiting: await waiting)
    }

    /// The jobs that are at no node. A node of an earlier version does not know the question.
    func waiting() async -> [WaitingJobs] {
        (try? await withDeadline(JobLookup.patience) { try await coordinator.waiting() }) ?? []
    }

    /// The job that is meant.
    ///
    /// - Parameters:
    ///   - isVictim: whether it is to be stopped or deleted.
    ///   - needsOwner: whether the node that has the job is needed, and not one that passes calls on to it.
    /// - Throws: `CommandFailure` where there is none, or more; `JobUnknownNow` where that is not known now.
    func find(_ text: String, isVictim: Bool = false, needsOwner: Bool = false) async throws -> FoundJob {
        try await find([text], isVictim: isVictim, needsOwner: needsOwner)[0]
    }

    /// Each job that is named, once.
    ///
    /// - Throws: as `find` of one job does, where one of them is not there; then none is meant.
    func find(_ texts: [String], isVictim: Bool = false, needsOwner: Bool = false) async throws -> [FoundJob] {
        var jobs: [FoundJob] = []
        var known: KnownJobs?
        for text in texts {
            var job = isHere || needsOwner ? nil : try await lookUp(text)
            if job == nil {
                let all = if let known { known } else { try await all() }
                known = all
                let entry = isVictim ? try all.findForSure(text) : try all.find(text)
                if text == JobReference.last { for line in all.lines { Console.error("skynode: \(line)") } }
                job = try found(entry)
            }
            if let job, !jobs.contains(where: { $0.job.id == job.job.id }) { jobs.append(job) }
        }
        return jobs
    }

    /// The job with a whole id, which any node finds; `nil` where it is none, or where all have to be asked.
    private func lookUp(_ text: String) async throws -> FoundJob? {
        guard let id = JobID(text) else { return nil }
        do {
            return FoundJob(job: try await coordinator.listing(id), coordinator: coordinator)
        } catch let error as RemoteError where error.mayBeTakenOver {
            let waiting = await waiting()
            throw JobUnknownNow(
                message: waiting.isEmpty
                    ? PrintableText.of(error.message)
                    : "there is no job \(id) now: \(waiting.map(\.words).joined(separator: "; "))",
                needsWord: !waiting.isEmpty && waiting.allSatisfy(\.needsWord))
        } catch let error as RemoteError
            where error.isAboutUnknownJob || [.noSuchActor, .noSuchMethod].contains(error.kind)
        {
            // Its node may be out of this one's reach, or this one shows no jobs now.
            return nil
        }
    }

    /// The scan whose results are meant, with its request.
    ///
    /// - Throws: `CommandFailure` where the job has no results to fetch, or where no job has; otherwise as `find`.
    func findScan(_ text: String) async throws -> (job: FoundJob, request: SkyRequest) {
        guard text == JobReference.last else {
            let found = try await find(text)
            return (found, try JobLookup.scan(try await found.request(), of: found.job.id))
        }
        let all = try await all()
        let (entry, scan) = try await JobLookup.newestScan(of: all) { try await found($0).request() }
        for line in all.lines { Console.error("skynode: \(line)") }
        return (try found(entry), scan)
    }

    private func found(_ entry: KnownJobs.Entry) throws -> FoundJob {
        FoundJob(job: entry.job, coordinator: try WholeCluster.coordinator(of: entry.member, like: coordinator))
    }

    /// The newest scan of the sky. What was submitted last may be a comparison or a scan with artificial stars: the command that scans
    /// submits these behind the scan itself, and keeps what they come to.
    ///
    /// - Parameter request: tells what a job was asked for; `nil` where the job has been deleted since it was listed.
    static func newestScan(
        of known: KnownJobs, request: (KnownJobs.Entry) async throws -> JobRequest?
    ) async throws -> (entry: KnownJobs.Entry, scan: SkyRequest) {
        _ = try known.find(JobReference.last)
        for entry in known.entries.reversed() {
            let asked = try await request(entry)
            if let scan = try? scan(asked, of: entry.job.id) { return (entry, scan) }
        }
        try known.check("no scan is known")
        throw CommandFailure(
            .usage, "none of \(known.isHere ? "this node's" : "the") jobs is a scan: there are no results to fetch")
    }

    /// - Parameter asked: what the job was asked for; `nil` where it has been deleted since it was found.
    /// - Throws: `CommandFailure` where the job is none whose results are written.
    static func scan(_ asked: JobRequest?, of job: JobID) throws -> SkyRequest {
        guard let asked else { throw CommandFailure(.usage, "job \(job) has just been deleted") }
        guard let scan = asked.kind.scan else {
            throw CommandFailure(.usage, "job \(job) is no scan: it has no results")
        }
        guard scan.image.injection == nil else {
            throw CommandFailure(
                .usage, "job \(job) scanned an image with injected stars: its catalogue is not one of the sky")
        }
        return scan
    }
}

extension FoundJob {
    /// Deletes the job.
    ///
    /// - Parameter node: a node that passes the call on to the one that has the job by now.
    func delete(through node: Coordinator) async throws {
        do {
            try await node.delete(job.id)
        } catch let error as RemoteError
            where error.kind == .noSuchActor || (error.isAboutUnknownJob && !error.mayBeTakenOver)
        {
            // That node shows no jobs now, or cannot pass it on.
            guard coordinator.id.node != node.id.node else { throw error }
            try await coordinator.delete(job.id)
        }
    }

    /// What the job was asked for; `nil` where it has been deleted since it was found.
    fileprivate func request() async throws -> JobRequest? {
        do {
            return try await coordinator.details(job.id).request
        } catch let error as RemoteError where error.isAboutUnknownJob && !error.mayBeTakenOver {
            return nil
        }
    }
}
