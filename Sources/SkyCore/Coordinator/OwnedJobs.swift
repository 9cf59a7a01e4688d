import Transport

/// The jobs of a coordinator of this node.
struct OwnedJobs: JobOwner {
    let coordinator: Coordinator

    let coordinatorID: CoordinatorID

    var name: String { coordinator.id.name }

    func has(_ job: JobID) async -> Bool { await coordinator.whenLocal { $0.core.jobs[job] != nil } ?? false }

    func job(withToken token: String) async -> JobID? {
        await coordinator.whenLocal { $0.core.jobs.job(withToken: token) } ?? nil
    }

    func list() async -> [JobListing] { await coordinator.whenLocal { $0.ownJobs() } ?? [] }
}
