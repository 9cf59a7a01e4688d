import Transport

// MARK: - Which node has a job

extension Copies {
    /// A coordinator works here from now on.
    nonisolated func add(_ owner: some JobOwner) { owners.withLockedValue { $0[owner.name] = owner } }

    /// A coordinator works here no more.
    nonisolated func removeOwner(named name: String) { owners.withLockedValue { $0[name] = nil } }

    private nonisolated var ownersHere: [any JobOwner] { owners.withLockedValue { Array($0.values) } }

    /// The jobs of all coordinators that work here but one.
    nonisolated func listHere(but name: String) async -> [JobListing] {
        var jobs: [JobListing] = []
        for owner in ownersHere where owner.name != name { jobs += await owner.list() }
        return jobs
    }

    /// What a person's jobs take at all coordinators that work here but one.
    nonisolated func usageHere(of person: String, but name: String) async -> PersonUsage {
        var usage = PersonUsage(person)
        for owner in ownersHere where owner.name != name { usage += await owner.usage(of: person) }
        return usage
    }

    /// Where a job is, if a coordinator of this node has it.
    nonisolated func locateHere(_ job: JobID) async -> JobPlace? {
        for owner in ownersHere where await owner.has(job) { return JobPlace(node: system.node, actor: owner.name) }
        return nil
    }

    /// Where a job is, if any node in reach has it.
    nonisolated func locate(_ job: JobID) async -> JobPlace? {
        if let place = await locateHere(job) { return place }
        return await firstAnswer { try await $0.locate(job) }
    }

    /// The coordinators of this node.
    var censusHere: CoordinatorCensus {
        get async { CoordinatorCensus(kept: await keptHere, open: Set(ownersHere.map(\.coordinatorID))) }
    }

    /// Whether a coordinator of which there are copies works at no node in reach, so that its jobs are nowhere for now.
    nonisolated func isAnyUnopened() async -> Bool {
        var all = [await censusHere]
        await withTaskGroup(of: CoordinatorCensus?.self) { group in
            for member in system.members {
                group.addTask {
                    // A node that does not answer is not asked for long: its coordinator counts as one that works nowhere.
                    guard let actor = try? self.actor(of: member.node) else { return nil }
                    return try? await withDeadline(Copies.patience) { try await actor.census() }
                }
            }
            for await census in group { if let census { all.append(census) } }
        }
        let open = all.reduce(into: Set()) { $0.formUnion($1.open) }
        return all.contains { !$0.kept.isSubset(of: open) }
    }

    /// The job that was submitted with a token to a coordinator that works here.
    nonisolated func jobHere(withToken token: String) async -> JobID? {
        for owner in ownersHere {
            if let job = await owner.job(withToken: token) { return job }
        }
        return nil
    }

    /// The job that was submitted with a token to any node in reach.
    nonisolated func job(withToken token: String) async -> JobID? {
        if let job = await jobHere(withToken: token) { return job }
        return await firstAnswer { try await $0.find(token) }
    }

    /// Asks all nodes in reach at the same time; the first that has an answer counts.
    private nonisolated func firstAnswer<Answer: Sendable>(
        _ ask: @escaping @Sendable (CopyActor) async throws -> Answer?
    ) async -> Answer? {
        await withTaskGroup(of: Answer?.self) { group in
            for member in system.members {
                group.addTask {
                    guard let actor = try? self.actor(of: member.node) else { return nil }
                    // A node that keeps no copies does not know the question, and one that does not answer has no job now.
                    return try? await withDeadline(Copies.patience) { try await ask(actor) }
                }
            }
            for await answer in group where answer != nil {
                group.cancelAll()
                return answer
            }
            return nil
        }
    }

    /// How long it may take from the loss of a node until another one has its jobs, as long as a call may wait for it.
    nonisolated var takeOverTime: Duration { min(policy.adoptAfter + .seconds(3), .seconds(12)) }
}
