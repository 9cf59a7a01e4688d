/// A replica that wants to be the primary of a term.
struct Candidacy: Sendable {
    enum Stage: Hashable, Sendable {
        /// It asks who would promise the term. Nothing has changed so far.
        case asking
        /// Its own promise is being stored.
        case promising
        /// It collects promises.
        case claiming
    }

    var term: UInt64
    var stage: Stage
    /// Who has promised, or would.
    var granted: Set<ReplicaID>
    /// When it gives up.
    var end: Duration
    /// The calls under way.
    var calls: Set<UInt64> = []
    /// Whether a person has said that the primary is lost, so that those in reach are enough.
    var isOnWord = false
}

/// Why a replica does not take over although a person says so.
struct AdoptionRefusal: Hashable, Sendable {
    enum Reason: Hashable, Sendable {
        /// It has promised a term to another one, which may be taking over.
        case promised
        /// It has more of the journal.
        case hasMore
        /// It hears the primary.
        case hearsPrimary
    }

    var replica: ReplicaID
    var reason: Reason
}

// MARK: - Candidate and voter

extension ReplicaCore {
    /// Asks for promises if the primary has been silent for so long that it counts as lost.
    ///
    /// - Parameter available: the replicas that can be reached.
    mutating func standIfDue(_ available: [ReplicaID]) {
        guard now >= mayStandAt else { return }
        // A primary that was removed may be the only one that has the batch that says so. The members cannot go on without that
        // (Ongaro, "Consensus: Bridging Theory and Practice", 4.2.2).
        guard mayVote || hasMore else { return askWhetherEnded(available) }
        let others = record.set.members.filter { $0 != primary }
        // One whose node is about to go lets the others try first.
        let rank = hasMore ? 0 : (others.firstIndex(of: own) ?? others.count) + (isLeaving ? others.count : 0)
        guard now - lastContact >= policy.adoptAfter + pause + policy.stagger * rank else { return }
        // The one that asked may have had no copy at all, and be no member either.
        if !mayVote, !isLeaving { askInReach(available) }
        ask(for: max(record.promised, highestTerm) + 1)
    }

    /// Whether this replica has a copy and is a member.
    var mayVote: Bool { record.position != nil && record.set.everyone.contains(own) }

    /// Asks the members whether the coordinator has ended, see `ReplicaReply.hasEnded`. Nobody tells that a replica that is no member
    /// any more, or not yet, and its copy would stay for ever.
    private mutating func askWhetherEnded(_ available: [ReplicaID]) {
        // A node that is about to go keeps what it has.
        guard !isLeaving, now - lastContact >= policy.adoptAfter * 2 + pause else { return }
        // Whoever began the copy has gone meanwhile. What was promised stays promised, and another one begins the copy anew.
        if record.position == nil, now - lastContact >= policy.emptyTime {
            return outputs.append(.close(.unneeded))
        }
        mayStandAt = now + policy.adoptAfter * 2
        let others = record.set.everyone.filter { $0 != own }
        for replica in others.isEmpty ? [primary].compactMap({ $0 }) : others { send(.promise(trial), to: replica) }
        askInReach(available)
    }

    /// Asks some of those that can be reached and are no members: the members may be others since this replica was one, and those that it
    /// knows may know nothing.
    private mutating func askInReach(_ available: [ReplicaID]) {
        let known = Set(record.set.everyone + [own] + [primary].compactMap { $0 })
        let others = available.filter { !known.contains($0) }.shuffled(using: &random)
        for replica in others.prefix(ReplicaCore.askedLimit) { send(.promise(trial), to: replica) }
    }

    /// How many that are no members are asked at a time.
    private static var askedLimit: Int { 8 }

    /// Asks without any promise. A primary answers also that there is an end, or no use for this copy.
    private var trial: PromiseRequest {
        PromiseRequest(
            term: max(record.promised, highestTerm) + 1, candidate: own, position: record.position ?? .start,
            isTrial: true)
    }

    /// A member that this replica knows names the primary, which is none of those: the members have changed since this replica was one.
    /// Only the primary says that there is no use for its copy, which would otherwise stay for ever.
    mutating func askPrimary(as reply: ReplicaReply, of member: ReplicaID) {
        guard let primary = reply.primary, !isPrimary, !reply.isGranted, primary != own, primary != member,
            record.set.everyone.contains(member), !record.set.everyone.contains(primary),
            now - lastContact >= policy.adoptAfter
        else { return }
        send(.promise(trial), to: primary)
    }

    mutating func ask(for term: UInt64) {
        guard let position = record.position else { return }
        var candidacy = Candidacy(term: term, stage: .asking, granted: [own], end: now + policy.patience)
        candidacy.calls = askOthers(PromiseRequest(term: term, candidate: own, position: position, isTrial: true))
        role = .candidate(candidacy)
        if record.set.isQuorum([own]) { promiseOneself(term) }
    }

    private mutating func askOthers(_ request: PromiseRequest) -> Set<UInt64> {
        Set(record.set.everyone.filter { $0 != own }.map { send(.promise(request), to: $0) })
    }

    private mutating func promiseOneself(_ term: UInt64) {
        guard case .candidate(var candidacy) = role else { return }
        candidacy.stage = .promising
        candidacy.end = now + policy.patience
        role = .candidate(candidacy)
        jobs.append(.stand(term: term))
    }

    /// The own promise is on the disk. Those of others are collected, which count together with these.
    mutating func claim(_ term: UInt64, granted: Set<ReplicaID>, isHandOver: Bool = false) {
        guard let position = record.position, !isPrimary, record.promised == term else { return }
        var candidacy = Candidacy(term: term, stage: .claiming, granted: granted, end: now + policy.patience)
        role = .candidate(candidacy)
        guard !winIfQuorum() else { return }
        candidacy.calls = askOthers(
            PromiseRequest(term: term, candidate: own, position: position, isTrial: false, isHandOver: isHandOver))
        role = .candidate(candidacy)
    }

    mutating func promised(_ reply: ReplicaReply, by replica: ReplicaID, _ call: UInt64) {
        guard case .candidate(var candidacy) = role, candidacy.calls.contains(call) else { return }
        guard !candidacy.isOnWord else { return answered(reply, by: replica, call) }
        // A replica whose disk was put back has forgotten what it acknowledged, so its promise does not count.
        let isRolledBack =
            reply.position.map { $0.term == knownTerm && $0.number < known[replica] ?? 0 } ?? true
        if isRolledBack { forgetful.insert(replica) } else { forgetful.remove(replica) }
        guard reply.isGranted, !isRolledBack else {
            // The one that has more stands now.
            if reply.isAhead { giveUpCandidacy(for: policy.patience * 2) }
            return
        }
        candidacy.granted.insert(replica)
        role = .candidate(candidacy)
        switch candidacy.stage {
        case .asking: if record.set.isQuorum(candidacy.granted) { promiseOneself(candidacy.term) }
        case .promising: break
        case .claiming: _ = winIfQuorum()
        }
    }

    /// - Returns: whether this replica is the primary now.
    private mutating func winIfQuorum() -> Bool {
        guard case .candidate(let candidacy) = role, record.set.isQuorum(candidacy.granted) else { return false }
        role = .primary(Primary(term: candidacy.term, firstNumber: .max, now: now))
        // The batch that begins the term. When it is committed, so is everything before it.
        jobs.append(.propose(nil, nil, proposal: nil))
        return true
    }

    /// Lets others try first.
    mutating func giveUpCandidacy(for pause: Duration = .zero) {
        role = .standby
        mayStandAt = now + pause + .milliseconds(Int.random(in: 100...1000, using: &random))
    }

    // MARK: - On a person's word

    /// The own promise of the term is on the disk. The members in reach are asked for theirs.
    mutating func claimOnWord(_ term: UInt64) {
        guard !isPrimary, record.promised == term, let position = record.position else { return }
        var candidacy = Candidacy(
            term: term, stage: .claiming, granted: [own], end: now + policy.patience, isOnWord: true)
        candidacy.calls = askOthers(PromiseRequest(term: term, candidate: own, position: position, isTrial: false))
        role = .candidate(candidacy)
        if candidacy.calls.isEmpty { beginAlone(in: term) }
    }

    private mutating func answered(_ reply: ReplicaReply, by replica: ReplicaID, _ call: UInt64) {
        guard case .candidate(let candidacy) = role else { return }
        // One without a copy decides nothing.
        guard reply.isGranted || reply.position == nil else {
            let reason: AdoptionRefusal.Reason =
                reply.isAhead ? .hasMore : reply.promised >= candidacy.term ? .promised : .hearsPrimary
            adoptionRefusal = AdoptionRefusal(replica: replica, reason: reason)
            return giveUpCandidacy(for: reason == .hearsPrimary ? policy.patience * 2 : .zero)
        }
        unanswered(call)
    }

    /// A call to a replica that cannot be reached has failed, or there is nothing more to hear from it.
    mutating func unanswered(_ call: UInt64) {
        guard case .candidate(var candidacy) = role, candidacy.isOnWord, candidacy.calls.remove(call) != nil else {
            return
        }
        role = .candidate(candidacy)
        if candidacy.calls.isEmpty { beginAlone(in: candidacy.term) }
    }

    /// Nobody else has answered in time.
    mutating func endCandidacy(_ candidacy: Candidacy) {
        if candidacy.isOnWord { beginAlone(in: candidacy.term) } else { giveUpCandidacy() }
    }

    /// No majority is asked for.
    private mutating func beginAlone(in term: UInt64) {
        role = .primary(Primary(term: term, firstNumber: .max, now: now))
        jobs.append(.propose(nil, ReplicaSet(members: [own]), proposal: nil))
    }

    // MARK: - Voter

    mutating func begin(_ request: PromiseRequest, _ ticket: UInt64) {
        highestTerm = max(highestTerm, request.isTrial ? 0 : request.term)
        if request.isTrial,
            let dismissal = dismissal(of: request.candidate, isEmpty: request.position == .start)
        {
            outputs.append(.answer(dismissal, ticket: ticket))
            return
        }
        guard request.term > record.promised, let position = record.position else {
            return answer(ticket, isGranted: false)
        }
        guard position <= request.position else {
            // This replica has what the candidate lacks, so it asks itself as soon as it may. One that is no member only asks whether
            // there is an end.
            if record.set.everyone.contains(request.candidate) { (mayStandAt, hasMore) = (now, true) }
            return answer(ticket, isGranted: false, isAhead: true)
        }
        // The candidate is known to have had more: its disk was put back.
        let isRolledBack =
            request.position.term == knownTerm && request.position.number < known[request.candidate] ?? 0
        guard !isRolledBack, request.isHandOver || !hasContact else { return answer(ticket, isGranted: false) }
        guard !request.isTrial else { return answer(ticket, isGranted: true) }
        write(.promise(request.term, to: request.candidate), for: .promise(request, ticket: ticket))
    }

    /// The answer to a replica that keeps a copy for nothing: this is the primary, and a majority agrees that it keeps none; `nil`
    /// otherwise. Where there are too few copies, an old one is better than none, as of a machine that was switched off in the evening.
    func dismissal(of replica: ReplicaID, isEmpty: Bool) -> ReplicaReply? {
        guard case .primary(let primary) = role, primary.areMembersCommitted,
            !record.set.everyone.contains(replica), primary.followers[replica] == nil
        else { return nil }
        let whole = primary.desired.count { primary.followers[$0]?.isFollowing == true }
        guard isEmpty || whole >= policy.copies else { return nil }
        return ReplicaReply(promised: record.promised, position: nil, isGranted: false, isUnneeded: true)
    }

    mutating func wrote(_ request: PromiseRequest, _ ticket: UInt64, _ isStored: Bool) {
        guard isStored else { return answer(ticket, isGranted: false, isFull: true) }
        record.promise(request.term, to: request.candidate)
        if case .primary(let primary) = role, primary.term < request.term {
            stepDown(.superseded(term: request.term))
        }
        if case .candidate = role { giveUpCandidacy() }
        // The one that has the promise gets some time.
        mayStandAt = max(mayStandAt, now + policy.patience)
        answer(ticket, isGranted: true)
    }

    /// Whether the primary is alive as far as this replica can tell: then nobody else gets a promise.
    private var hasContact: Bool {
        switch role {
        case .standby, .candidate: now - lastContact < policy.contactTime + pause
        case .primary(let primary):
            hearsQuorum(primary)
        }
    }

    mutating func begin(_ request: TakeOverRequest, _ ticket: UInt64) {
        guard request.term > record.promised, !isPrimary, record.position == request.position else {
            return answer(ticket, isGranted: false)
        }
        write(.promise(request.term, to: own), for: .takeOver(request, ticket: ticket))
    }
}
