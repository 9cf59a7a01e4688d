import Transport

/// The jobs of a coordinator of this node.
struct OwnedJobs: JobOwner {
    let coordinator: Coordinator

    let coordinatorID: CoordinatorID

    var name: String { coordinator.id.name }

    var hasJobs: Bool { get async { await coordinator.whenLocal { !$0.isIdleForGood } ?? false } }

    func has(_ job: JobID) async -> Bool { await coordinator.whenLocal { $0.core.jobs[job] != nil } ?? false }

    func job(withToken token: String) async -> JobID? {
        await coordinator.whenLocal { $0.core.jobs.job(withToken: token) } ?? nil
    }

    func usage(of person: String) async -> PersonUsage {
        await coordinator.whenLocal { $0.core.jobs.quotas.usage(of: person) } ?? PersonUsage(person)
    }

    func list() async -> [JobListing] { await coordinator.whenLocal { $0.ownJobs() } ?? [] }
}
