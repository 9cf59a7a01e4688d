// MARK: - Primary

extension ReplicaCore {
    /// Whether this is a primary of whose journal nobody keeps a copy, or is about to. Then no batches are kept for anybody.
    var isLonely: Bool {
        guard case .primary(let primary) = role else { return false }
        return primary.followers.isEmpty && record.set.everyone == [own]
    }

    // MARK: - Own batches

    mutating func storedOwn(_ batch: LogBatch<Content>, _ proposal: UInt64?) {
        record.position = batch.position
        if let set = batch.set { record.set = set }
        // Whoever lacks a batch that is not kept gets a whole copy.
        if isLonely || batch.content?.isMark == true { recent.removeAll() } else { recent.append(batch) }
        guard case .primary(var primary) = role, primary.term == batch.position.term else {
            if let proposal { outputs.append(.refused(proposal: proposal)) }
            return
        }
        primary.firstNumber = min(primary.firstNumber, batch.position.number)
        if batch.set != nil { (primary.setNumber, primary.isChanging) = (batch.position.number, false) }
        // After a quiet time, the last tick was long ago. The journal has not waited since then.
        if now - primary.lastBusy >= policy.heartbeat { primary.headTimes.note(batch.position.number - 1, at: now) }
        primary.lastBusy = now
        role = .primary(primary)
        if let proposal { outputs.append(.stored(proposal: proposal, number: batch.position.number)) }
        commit()
        shipAll()
    }

    /// Counts what a quorum has.
    mutating func commit() {
        guard case .primary(var primary) = role, let head = record.position else { return }
        var reached = primary.followers.mapValues { $0.acked }
        reached[own] = head.number
        let number = record.set.committed(reached)
        guard number >= primary.firstNumber, number > primary.committed || primary.stage == .confirming else { return }
        if number > primary.committed { primary.committed = number }
        let opens = primary.stage == .confirming && number >= head.number && isConfirmed(head.number, primary)
        if opens { primary.stage = .open }
        role = .primary(primary)
        if opens { outputs.append(.open(term: primary.term)) }
        if primary.stage == .open { outputs.append(.committed(primary.committed)) }
        settle()
    }

    /// Whether so many of the members as decide have this batch, and have said a moment ago that they follow this primary: none of them has
    /// promised a later term to anybody since (`hasContact`). One that was frozen or cut off while it began counts old answers
    /// otherwise, and would begin without what another one has done meanwhile.
    private func isConfirmed(_ number: UInt64, _ primary: Primary<Content>) -> Bool {
        let fresh = primary.followers.filter {
            $0.value.acked >= number && now - $0.value.lastAsked < policy.contactTime
        }
        return record.set.isQuorum(Set(fresh.keys).union([own]))
    }

    mutating func noteHead() {
        guard case .primary(var primary) = role, let head = record.position else { return }
        primary.headTimes.note(head.number, at: now)
        role = .primary(primary)
    }

    // MARK: - Calls to followers

    /// How many bytes go out in one call, unless a single batch has more.
    static var shipLimit: Int { 4 << 20 }

    /// Calls every follower that is to be called now.
    ///
    /// One that is no member gets nothing while the members could still be others. A former member that had the batch which drops it
    /// would be ahead of all that are left when the primary is lost: it would promise them nothing, and could not stand itself.
    mutating func shipAll() {
        guard case .primary(let primary) = role else { return }
        let everyone = record.set.everyone
        for replica in primary.followers.keys.sorted() where primary.areMembersCommitted || everyone.contains(replica) {
            ship(to: replica)
        }
    }

    private mutating func ship(to replica: ReplicaID) {
        guard case .primary(var primary) = role, var follower = primary.followers[replica], follower.call == nil,
            follower.pauseUntil <= now, let head = record.position, primary.firstNumber <= head.number
        else { return }
        switch follower.phase {
        case .unknown:
            follower.call = send(.append(request(primary, after: head, [], head)), to: replica)
        case .following(let position):
            guard let batches = recent.after(position, bytes: ReplicaCore.shipLimit) ?? (position == head ? [] : nil)
            else {
                follower.phase = .copying(Follower<Content>.Copying(id: random.next(), sent: head))
                primary.followers[replica] = follower
                role = .primary(primary)
                return ship(to: replica)
            }
            guard !batches.isEmpty || now - follower.callSent >= heartbeat(of: follower, primary) else { return }
            // Nothing waits for the answer of those that are not needed for a quorum, so they get many batches at a time. Who is a
            // member is told at once.
            if now - follower.callSent < policy.gatheringTime, !recent.hasMany(after: position),
                !batches.contains(where: { $0.set != nil }),
                !primary.needed(of: record.set, besides: own, policy, now).contains(replica)
            {
                return
            }
            var request = request(primary, after: position, batches, head)
            follower.told = batches.isEmpty ? pause(of: follower, primary) : .zero
            if follower.told > .zero { request.pause = UInt64(follower.told / .milliseconds(1)) }
            follower.call = send(.append(request), to: replica)
        case .copying(var copying):
            guard !copying.isReading else { return }
            copying.part = copying.part ?? nextPart(&copying, head)
            guard let part = copying.part else {
                follower.phase = copying.isReading ? .copying(copying) : .unknown
                primary.followers[replica] = follower
                role = .primary(primary)
                if copying.isReading { outputs.append(.read(for: replica, from: copying.cursor ?? 0)) }
                return
            }
            follower.phase = .copying(copying)
            let request = SnapshotRequest(
                term: primary.term, primary: own, id: copying.id, number: copying.next, part: part)
            follower.call = send(.snapshot(request), to: replica)
        }
        follower.callSent = now
        primary.followers[replica] = follower
        role = .primary(primary)
    }

    private func request(
        _ primary: Primary<Content>, after previous: LogPosition, _ batches: [LogBatch<Content>], _ head: LogPosition
    ) -> AppendRequest<Content> {
        AppendRequest(
            term: primary.term, primary: own, previous: previous, batches: batches, head: head,
            acked: primary.followers.mapValues { $0.acked }, isOpening: primary.stage == .confirming ? true : nil)
    }

    /// The next part of a copy but for pages; `nil` if a page has to be read first, or if the copy has to begin anew.
    private func nextPart(_ copying: inout Follower<Content>.Copying, _ head: LogPosition) -> SnapshotRequest<Content>
        .Part?
    {
        if copying.sent != head {
            guard let batches = recent.after(copying.sent, bytes: ReplicaCore.shipLimit) else { return nil }
            return .batches(batches)
        }
        guard copying.cursor != nil else { return .end(head, record.set, digest: copying.digest) }
        copying.isReading = true
        return nil
    }

    /// A page of the journal was read.
    ///
    /// - Parameters:
    ///   - page: the page; `nil` if it cannot be read.
    ///   - next: where the next page begins; `nil` if this is the last one.
    mutating func pageRead(_ page: Content?, next: UInt64?, for replica: ReplicaID) {
        guard case .primary(var primary) = role, var follower = primary.followers[replica],
            case .copying(var copying) = follower.phase, copying.isReading
        else { return }
        copying.isReading = false
        (copying.part, copying.cursor) = (page.map { .page($0) }, next)
        follower.phase = page == nil ? .unknown : .copying(copying)
        if page == nil { follower.pauseUntil = now + policy.retryPause }
        primary.followers[replica] = follower
        role = .primary(primary)
        ship(to: replica)
    }

    /// A batch without entries could not be stored. The one that begins a term is tried again, the members change at another time.
    mutating func notStored(_ set: ReplicaSet?) {
        guard case .primary(var primary) = role else { return }
        guard set != nil, primary.firstNumber != .max else { return jobs.append(.propose(nil, set, proposal: nil)) }
        primary.isChanging = false
        role = .primary(primary)
    }

    // MARK: - Answers of followers

    mutating func acknowledged(_ reply: ReplicaReply, by replica: ReplicaID, _ call: UInt64) {
        guard case .primary(var primary) = role, var follower = primary.followers[replica], follower.call == call,
            let head = record.position
        else { return }
        guard reply.promised <= primary.term else { return stepDown(.superseded(term: reply.promised)) }
        guard !reply.isAhead else { return rollBack() }
        (follower.call, follower.hasFailed) = (nil, false)
        if reply.isGranted, case .following(let before) = follower.phase, reply.position != before {
            follower.noteStored(in: now - follower.callSent)
        }
        (follower.lastHeard, follower.hasAnswered, follower.heedsPause) = (now, true, reply.heedsPause == true)
        follower.lastAsked = follower.callSent
        (follower.pause, follower.told) = (follower.told, .zero)
        follower.noteRoom(reply, held: held, at: now)
        if reply.isGranted { follower.lastGranted = now } else { follower.pauseUntil = now + policy.retryPause }
        advance(&follower, reply, head)
        primary.followers[replica] = follower
        role = .primary(primary)
        commit()
        shipAll()
    }

    private mutating func advance(_ follower: inout Follower<Content>, _ reply: ReplicaReply, _ head: LogPosition) {
        switch follower.phase {
        case .unknown, .following:
            guard !reply.isFull else { return }
            // A disk that was put back has lost what was acknowledged before.
            if reply.position?.number ?? 0 < follower.acked { follower.acked = 0 }
            guard let position = reply.position, position == head || recent.contains(position) else {
                follower.phase = .copying(Follower<Content>.Copying(id: random.next(), sent: head))
                follower.pauseUntil = now
                return
            }
            follower.acked = position.number
            follower.phase = .following(position)
            if position != head { follower.pauseUntil = now }
        case .copying(var copying):
            guard reply.isGranted else { return follower.phase = .unknown }
            if case .end(let end, _, _) = copying.part {
                follower.acked = end.number
                follower.phase = .following(end)
                return
            }
            copying.digest = copying.part?.mixed(into: copying.digest) ?? copying.digest
            if case .batches(let batches) = copying.part, let last = batches.last { copying.sent = last.position }
            copying.part = nil
            copying.next += 1
            follower.phase = .copying(copying)
        }
    }

    /// Others have seen more of this journal than is on this disk.
    private mutating func rollBack() {
        stepDown(.rolledBack)
        jobs.append(.discard)
    }
}
