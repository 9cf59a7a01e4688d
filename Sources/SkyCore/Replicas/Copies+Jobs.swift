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
        get async {
            let open = Set(ownersHere.map(\.coordinatorID))
            return CoordinatorCensus(
                kept: await keptHere, open: open, resting: await restingHere(but: open), replica: book.own)
        }
    }

    /// Whether a coordinator of which there are copies works at no node in reach, so that its jobs are nowhere for now.
    nonisolated func isAnyUnopened() async -> Bool {
        let all = await censuses()
        let open = all.open
        return !WaitingJobs.all(in: all).isEmpty
            || all.contains { $0.census.resting == nil && !$0.census.kept.isSubset(of: open) }
    }

    /// What each node in reach has, this one included.
    nonisolated func censuses() async -> [(keeper: Member, census: CoordinatorCensus)] {
        var all = [(keeper: system.ownMember, census: await censusHere)]
        await withTaskGroup(of: (Member, CoordinatorCensus)?.self) { group in
            for member in system.members {
                group.addTask {
                    // A node that does not answer is not asked for long: its coordinator counts as one that works nowhere.
                    guard let actor = try? self.actor(of: member.node),
                        let census = try? await withDeadline(Copies.patience, { try await actor.census() })
                    else { return nil }
                    return (member, census)
                }
            }
            for await answer in group { if let answer { all.append(answer) } }
        }
        return all
    }

    /// The jobs that are at no node in reach, though there are copies of them.
    nonisolated func waitingJobs() async -> [WaitingJobs] { WaitingJobs.all(in: await censuses()) }

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

extension [(keeper: Member, census: CoordinatorCensus)] {
    /// The coordinators that work at any of the nodes.
    var open: Set<CoordinatorID> { reduce(into: []) { $0.formUnion($1.census.open) } }
}

extension WaitingJobs {
    private typealias Copy = (keeper: Member, replica: ReplicaID?, resting: RestingCoordinator)

    /// The jobs of all coordinators that are kept somewhere and work nowhere, in the order of their nodes' names: together where the same
    /// is to be done about them.
    static func all(in censuses: [(keeper: Member, census: CoordinatorCensus)]) -> [WaitingJobs] {
        let open = censuses.open
        var copies: [CoordinatorID: [Copy]] = [:]
        for (keeper, census) in censuses {
            for resting in census.resting ?? [] where !open.contains(resting.coordinator) {
                copies[resting.coordinator, default: []].append((keeper, census.replica, resting))
            }
        }
        var found: [[String]: WaitingJobs] = [:]
        for jobs in copies.values.compactMap(WaitingJobs.init) where jobs.jobs != 0 {
            let place = jobs.needsWord ? [jobs.node, jobs.keeper, jobs.address.map { "\($0)" } ?? ""] : [jobs.node]
            guard let known = found[place] else {
                found[place] = jobs
                continue
            }
            found[place]?.jobs = known.jobs.flatMap { count in jobs.jobs.map { count + $0 } }
        }
        return found.values.sorted { ($0.node, $0.keeper) < ($1.node, $1.keeper) }
    }

    /// What several copies of one journal say: the one that is furthest knows who decides, and those decide that have whole copies.
    private init?(_ copies: [Copy]) {
        let furthest = copies.max { left, right in
            let (one, other) = (left.resting, right.resting)
            if one.position != other.position { return one.position ?? .start < other.position ?? .start }
            return one.jobs ?? 0 < other.jobs ?? 0
        }
        guard let furthest else { return nil }
        let voters = Set(copies.compactMap(\.replica))
        // Nodes of earlier versions say for themselves whether they are enough.
        let isKnown = voters.count == copies.count
        let counted = voters.subtracting(furthest.resting.forgetful ?? [])
        let canDecide = isKnown ? furthest.resting.set.map { $0.isQuorum(counted) } : nil
        self.init(
            node: furthest.resting.node, jobs: furthest.resting.jobs, keeper: furthest.keeper.name,
            address: furthest.keeper.address,
            needsWord: !(canDecide ?? copies.contains { $0.resting.isDecidable }))
    }
}
