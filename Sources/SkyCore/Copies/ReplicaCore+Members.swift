// MARK: - Who keeps copies, and who decides

extension ReplicaCore {
    // MARK: - Goodbyes

    /// The members that can be counted on: those that have not said goodbye, and were heard a moment ago.
    ///
    /// - Parameter surely: whether one that is called more seldom does not count before it was called again, and one that has not
    ///   stored who the members are not before it has: it would not know that others need its vote.
    private func staying(_ primary: Primary<Content>, surely: Bool) -> Set<ReplicaID> {
        Set(
            record.set.everyone.filter { replica in
                guard replica != own else { return !primary.isLeaving }
                let knowsMembers = primary.followers[replica].map { $0.acked >= primary.membersNumber } == true
                return isThere(replica, primary, surely: surely) && (knowsMembers || !surely)
            })
    }

    private func isThere(_ replica: ReplicaID, _ primary: Primary<Content>, surely: Bool = false) -> Bool {
        guard away[replica] == nil, let follower = primary.followers[replica] else { return false }
        guard follower.hasAnswered else { return false }
        guard surely else { return follower.isInReach(policy, now) }
        // The system closes the links of a process that is killed, long before anybody misses it.
        return now - follower.lastHeard < policy.contactTime && linked?.contains(replica) != false
    }

    /// Whether the members that can be counted on are no majority, now that others have said goodbye. Then their votes have to be
    /// given back at once: as soon as one more of them is gone, nothing can be decided any more.
    private func isStranded(_ primary: Primary<Content>) -> Bool {
        record.set.everyone.contains { away[$0] != nil } && !record.set.isQuorum(staying(primary, surely: false))
    }

    /// The members whose votes are to be given back.
    ///
    /// One that has said goodbye may be back in a moment, so its vote is kept for a while, if the others are a majority without it.
    private func departed(_ primary: Primary<Content>) -> [ReplicaID] {
        let isStranded = isStranded(primary)
        return record.set.members.filter { replica in
            replica != own && away[replica].map { isStranded || $0 >= policy.restartTime } == true
        }
    }

    /// Whether a replica that is about to go has to wait, because nothing could be decided without it, or because its copy still lacks
    /// something.
    func needs(_ replica: ReplicaID) -> Bool {
        guard case .primary(let primary) = role else { return false }
        guard !isOwed(replica, primary) else { return true }
        // It may be a member in a moment.
        guard !primary.isChanging else { return true }
        return record.set.everyone.contains(replica)
            && !record.set.isQuorum(staying(primary, surely: true).subtracting([replica]))
    }

    /// Whether a copy lacks something that was published, and is about to get it.
    private func lacksPublished(_ replica: ReplicaID, _ primary: Primary<Content>) -> Bool {
        guard primary.stage == .open, let follower = primary.followers[replica] else { return false }
        return follower.acked < primary.committed && !follower.isFull && follower.isLasting(policy, now)
    }

    /// Whether a copy whose node has just said goodbye, or that is to be kept no more, lacks something that was published before. When that
    /// node is on, and this one is off, its copy would say that deleted jobs wait.
    private func isOwed(_ replica: ReplicaID, _ primary: Primary<Content>) -> Bool {
        // A call or two to it may be lost.
        guard let follower = primary.followers[replica], follower.isFollowing,
            let gone = away[replica] ?? follower.unwantedSince.map({ now - $0 }), gone < policy.adoptAfter * 2,
            lacksPublished(replica, primary)
        else { return false }
        return primary.headTimes.last(upTo: follower.acked).map { $0 <= now - gone } ?? true
    }

    /// Whether a copy that can be reached lacks something that was published. A primary without jobs, which nobody goes on with, does not
    /// go before that: the copies would say that deleted jobs wait.
    ///
    /// - Parameter reachable: the replicas that can be reached, also those that are about to go.
    func isAhead(of reachable: [ReplicaID]) -> Bool {
        guard case .primary(let primary) = role else { return false }
        return reachable.contains { lacksPublished($0, primary) }
    }

    /// Whether this primary should not go yet: members that can be reached are about to agree to a change.
    var isSettling: Bool {
        guard case .primary(let primary) = role, primary.stage == .open else { return false }
        guard hearsQuorum(primary) else { return false }
        return isStranded(primary) || primary.isChanging || !record.set.former.isEmpty
            || !primary.areMembersCommitted
    }

    /// Whether this standby should not go yet: its primary was lost a moment ago, or was itself, and others are about to ask for its
    /// vote.
    ///
    /// - Parameter reachable: the replicas that can be reached, also those that are about to go.
    func isAwaited(by reachable: [ReplicaID]) -> Bool {
        // The others may know of a later change of the members than this one does.
        let members = ReplicaSet(members: record.set.members)
        guard !isPrimary, mayVote, members.isQuorum(Set(reachable + [own])) else { return false }
        let silent = now - lastContact
        let isLost = silent >= policy.contactTime + pause || primary.map { away[$0] != nil } ?? true
        return isLost && silent < policy.adoptAfter * 3 + pause
    }

    // MARK: - Changes of the members

    /// Drops the former members when the new ones have been committed.
    mutating func settle() {
        guard case .primary(var primary) = role, !record.set.former.isEmpty, !primary.isChanging,
            primary.areMembersCommitted
        else { return }
        primary.isChanging = true
        role = .primary(primary)
        jobs.append(.propose(nil, ReplicaSet(members: record.set.members), proposal: nil))
    }

    /// Chooses who is to keep copies.
    mutating func choose(among available: [ReplicaID]) {
        guard case .primary(var primary) = role else { return }
        let standbys = record.set.members.filter { $0 != own }
        let departed = departed(primary)
        // A member stays until it has not done for a while what it was asked. Who is a member already goes before others.
        var lasting = standbys.filter { standby in
            !departed.contains(standby) && primary.followers[standby]?.isLasting(policy, now) ?? true
        }
        // One without room for more gives way to one that has room, and to no other.
        func isRoomy(_ other: ReplicaID) -> Bool {
            primary.followers[other].map { $0.isRoomy(policy, now) } ?? !crowded.contains(other)
        }
        let others = available.filter { $0 != own && away[$0] == nil }
        let spare = others.filter { !standbys.contains($0) && isRoomy($0) }
        for other in spare {
            guard let place = lasting.lastIndex(where: { !isRoomy($0) }) else { break }
            lasting[place] = other
        }
        var desired = Array(lasting.prefix(policy.copies))
        let roomiest = others.filter(isRoomy) + others.filter { !isRoomy($0) }
        for replica in roomiest where desired.count < policy.copies && !desired.contains(replica) {
            // One that was just given up is no better than none.
            if standbys.contains(replica), !lasting.contains(replica), primary.followers[replica]?.isFull == true {
                continue
            }
            desired.append(replica)
        }
        primary.hasSpare = spare.contains { !desired.contains($0) }
        primary.desired = desired
        let wanted = Set(desired + record.set.everyone)
        for replica in primary.followers.keys {
            let since = primary.followers[replica]?.unwantedSince ?? now
            primary.followers[replica]?.unwantedSince = wanted.contains(replica) ? nil : since
        }
        let kept = wanted.union(primary.followers.keys.filter { isOwed($0, primary) })
        for replica in kept where replica != own && primary.followers[replica] == nil {
            primary.followers[replica] = Follower(lastGranted: now, lastHeard: now)
        }
        // A former member is still to hear that it is none (`shipAll`).
        if primary.areMembersCommitted { primary.followers = primary.followers.filter { kept.contains($0.key) } }
        role = .primary(primary)
        changeMembers(departed)
    }

    /// The share that the journal is to heed of those that keep copies, and whose it is; `nil` where none is known. One that gives way to
    /// another with room does not count: nothing is deleted for its sake.
    ///
    /// Tasks wait for the room of so many members only as have to store what is decided; a member with less room lacks the rest. Below
    /// that it is a wish: what has ended is deleted, so that all copies are whole, and no task waits. It is a wish, too, where no standby
    /// has a vote: the next ones get none before there is room for more (`noteRoom`). A node with next to no room is not worth what would
    /// be deleted.
    var smallestShare: (bytes: Int, at: ReplicaID, isWish: Bool)? {
        guard case .primary(let primary) = role else { return nil }
        let voters = primary.desired.filter(record.set.members.contains)
        let shares = (voters.isEmpty ? primary.desired : voters).compactMap { replica -> (bytes: Int, at: ReplicaID)? in
            guard let follower = primary.followers[replica], let share = follower.share,
                follower.shortSince == nil || !primary.hasSpare
            else { return nil }
            return (voters.isEmpty ? share - share / 16 : share, replica)
        }.sorted { ($0.bytes, $0.at) < ($1.bytes, $1.at) }
        let worthy = shares.first { $0.bytes >= held / 4 }
        if !voters.isEmpty {
            // A majority without this node.
            let there = shares.filter { isThere($0.at, primary) }.suffix(record.set.members.count / 2)
            guard let deciding = there.first ?? shares.first else { return nil }
            guard held <= deciding.bytes, let worthy, worthy.bytes < deciding.bytes else {
                return (deciding.bytes, deciding.at, false)
            }
            return (worthy.bytes, worthy.at, true)
        }
        return worthy.map { ($0.bytes, $0.at, true) }
    }

    /// Begins to change the members, if those that are to be members have everything.
    ///
    /// - Parameter departed: the members that have said goodbye and are dropped.
    private mutating func changeMembers(_ departed: [ReplicaID]) {
        guard case .primary(let primary) = role, !needsSuccessor else { return }
        var voters = Array(primary.voters)
        if !departed.isEmpty {
            // The change has to be committed by those that are there. Copies that are still to be made are waited for if there is time.
            let there = primary.desired.filter { isThere($0, primary) }
            let longestAway = departed.compactMap { away[$0] }.max() ?? .zero
            let isUrgent = isStranded(primary) || longestAway >= policy.replaceAfter
            let chosen = isUrgent ? there.filter(canDecide) : there
            voters = Array(chosen.prefix(chosen.count / 2 * 2))
        }
        // There are fewer members where fewer copies are asked for, and where members have said goodbye. One that is lost may still
        // hold what counts, and keeps its vote until another one has its place.
        let mayShrink = policy.copies + 1 < record.set.members.count || !departed.isEmpty
        let members = [own] + voters
        guard Set(members) != Set(record.set.members), members.count >= record.set.members.count || mayShrink else {
            return forgetPlan()
        }
        propose(members: members)
    }

    private mutating func forgetPlan() {
        guard case .primary(var primary) = role, primary.plan != nil else { return }
        primary.plan = nil
        role = .primary(primary)
    }

    /// Whether a replica has room for more, so that it can be a member.
    private func hasRoom(_ replica: ReplicaID) -> Bool {
        guard replica != own, !record.set.members.contains(replica) else { return true }
        guard case .primary(let primary) = role, let follower = primary.followers[replica] else { return false }
        return follower.shortSince == nil
    }

    /// Whether a replica has nearly all that is committed, and room for more, so that it can be a member. While much is stored, few
    /// ever have all of it at the same moment; what they lack, they have before the change counts.
    private func isReady(_ replica: ReplicaID) -> Bool {
        guard replica != own, !record.set.members.contains(replica) else { return true }
        guard case .primary(let primary) = role, let follower = primary.followers[replica], let head = record.position,
            hasRoom(replica), follower.acked <= head.number
        else { return false }
        guard follower.acked < primary.committed else { return true }
        let hadAll = primary.headTimes.last(upTo: follower.acked)
        return follower.isFollowing && hadAll.map { now - $0 < policy.heartbeat } == true
    }

    /// Whether a replica could be among the only members at once. A member may lack what it had, where its copy was damaged meanwhile.
    private func canDecide(_ replica: ReplicaID) -> Bool {
        guard case .primary(let primary) = role, let follower = primary.followers[replica] else { return false }
        return isReady(replica) && follower.acked >= primary.committed
    }

    /// Begins to change the members in two batches, as `ReplicaSet` says, when so many of the new ones as decide have said that they are
    /// there. Nothing is decided any more without these, so one that was lost a moment ago would be the end of it.
    private mutating func propose(members: [ReplicaID]) {
        guard case .primary(var primary) = role else { return }
        guard primary.areMembersCommitted, !primary.isChanging, record.set.former.isEmpty, members.allSatisfy(hasRoom)
        else { return forgetPlan() }
        var since = primary.plan.flatMap { $0.members == members ? $0.since : nil } ?? now
        let there = members.filter { $0 == own || primary.followers[$0].map { $0.lastAsked >= since } == true }
        let areEnough = ReplicaSet(members: members).isQuorum(Set(there))
        guard areEnough, members.allSatisfy(isReady) else {
            // That they were there says less and less, while what they lack is on its way.
            if areEnough, now - since >= policy.heartbeat { since = now }
            primary.plan = (members, since)
            role = .primary(primary)
            return shipAll()
        }
        (primary.isChanging, primary.plan) = (true, nil)
        role = .primary(primary)
        jobs.append(.propose(nil, ReplicaSet(members: members, former: record.set.members), proposal: nil))
    }

    // MARK: - The primary goes

    /// Lets a standby that has everything take over, if there is one now.
    ///
    /// - Parameter available: the replicas that can be reached.
    mutating func handOver(to available: [ReplicaID]) {
        guard case .primary(let primary) = role, primary.stage == .open, let head = record.position,
            let standby = record.set.members.first(where: {
                primary.followers[$0]?.acked == head.number && available.contains($0)
            })
        else { return }
        jobs.append(.handOver(to: standby))
    }

    /// Where the primary's node is about to go and the other members could not take over by themselves, those that have everything
    /// become the only members, and one of them takes over.
    ///
    /// - Parameter available: the replicas that can be reached, the best first.
    mutating func leave(to available: [ReplicaID]) {
        guard case .primary(var primary) = role, isLeaving || primary.isLeaving else { return }
        let others = available.filter { $0 != own && away[$0] == nil }
        // A node that goes last keeps what it has.
        primary.leavingSince = isLeaving && !others.isEmpty ? primary.leavingSince ?? now : nil
        role = .primary(primary)
        guard needsSuccessor, primary.areMembersCommitted, record.set.former.isEmpty, let since = primary.leavingSince
        else { return }
        if !record.set.members.contains(own), record.set.members.contains(where: others.contains) {
            return handOver(to: others)
        }
        let known = record.set.members.filter(others.contains)
        let able = (known + others.filter { !known.contains($0) })
            .filter { isThere($0, primary) && canDecide($0) }
        // Everything depends on those few from now on: one that was lost a moment ago would be the end of it.
        let ready = able.filter { primary.followers[$0].map { $0.lastAsked >= since } == true }
        guard ready.count == able.count || now - since >= policy.heartbeat, !ready.isEmpty else { return }
        // An odd number: an even one survives no more losses than the odd one below it, and needs one more.
        propose(members: Array(ready.prefix((min(ready.count, policy.copies + 1) - 1) / 2 * 2 + 1)))
    }

    /// Whether the primary's node is about to go, and nobody could take over without it.
    var needsSuccessor: Bool {
        guard case .primary(let primary) = role, primary.isLeaving else { return false }
        return !record.set.members.contains(own) || !record.set.isQuorum(staying(primary, surely: true))
    }

    // MARK: - A person's word

    /// Lets the primary go on without its standbys. That is a person's word that none of them has taken over, or will: their
    /// majority could do so without this one.
    mutating func continueWithoutStandbys() {
        guard case .primary(var primary) = role, record.set.members != [own] || !record.set.former.isEmpty else {
            return
        }
        primary.isChanging = true
        role = .primary(primary)
        jobs.append(.propose(nil, ReplicaSet(members: [own]), proposal: nil))
    }

    /// Lets a standby take over without a majority. That is a person's word that the primary is lost. What the copy lacks is lost.
    ///
    /// The members in reach are asked all the same: one that hears the primary, has more, or takes over itself prevents it.
    mutating func adopt() {
        adoptionRefusal = nil
        // Two that are told so at the same time, and do not reach each other, hardly ever begin the same term.
        let skipped = UInt64.random(in: 1...64, using: &random)
        jobs.append(.adopt(term: max(record.promised, highestTerm) + skipped))
    }

    /// Whether it is not decided yet whether this replica takes over on a person's word.
    var isAdopting: Bool {
        if case .candidate(let candidacy) = role { return candidacy.isOnWord }
        return (jobs + [underWay].compactMap { $0 }).contains { if case .adopt = $0 { true } else { false } }
    }
}
