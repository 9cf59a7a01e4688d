/// A copy that comes in parts.
struct IncomingCopy: Sendable {
    var id: UInt64
    /// The number of the next part.
    var next: UInt64
    /// Stands for the parts so far.
    var digest: UInt64 = 0
}

// MARK: - Standby

extension ReplicaCore {
    mutating func begin(_ request: AppendRequest<Content>, _ ticket: UInt64) {
        guard mayObey(request.term) else { return answer(ticket, isGranted: false) }
        guard !isBehind(request) else { return answer(ticket, isGranted: false, isAhead: true) }
        heard(from: request.primary, request.term)
        // A primary that says more is not believed.
        told = min(.milliseconds(Int64(clamping: request.pause ?? 0)), policy.calmHeartbeat)
        pause = told
        learn(request)
        let isNext = request.previous == record.position
        if isNext, !request.batches.isEmpty, isChain(request) {
            write(
                .append(request.batches, promised: request.term, to: request.primary),
                for: .append(request, ticket: ticket))
        } else if request.term > record.promised {
            write(.promise(request.term, to: request.primary), for: .append(request, ticket: ticket))
        } else {
            answer(ticket, isGranted: isNext && request.batches.isEmpty)
        }
    }

    mutating func wrote(_ request: AppendRequest<Content>, _ ticket: UInt64, _ isStored: Bool) {
        guard isStored else { return answer(ticket, isGranted: false, isFull: true) }
        record.promise(request.term, to: request.primary)
        if request.previous == record.position, isChain(request) {
            for batch in request.batches {
                record.position = batch.position
                if let set = batch.set { record.set = set }
                recent.append(batch)
            }
            answer(ticket, isGranted: true)
        } else {
            answer(ticket, isGranted: false)
        }
    }

    /// Whether the batches follow each other and the position before them, and are what their hashes say.
    private func isChain(_ request: AppendRequest<Content>) -> Bool {
        var position = request.previous
        for batch in request.batches {
            guard batch.previous == position, batch.isWhole, batch.position.term <= request.term else { return false }
            position = batch.position
        }
        return true
    }

    /// Whether a primary of this term is to be obeyed. One that is superseded ends here.
    private mutating func mayObey(_ term: UInt64) -> Bool {
        guard term >= record.promised else { return false }
        if case .primary(let primary) = role {
            guard term > primary.term else { return false }
            stepDown(.superseded(term: term))
        }
        return true
    }

    /// Whether the primary has less than it is known to have had: its disk was put back.
    private func isBehind(_ request: AppendRequest<Content>) -> Bool {
        if let position = record.position, position.term == request.term, position.number > request.head.number {
            return true
        }
        return knownTerm == request.term && request.head.number < known[request.primary] ?? 0
    }

    private mutating func heard(from primary: ReplicaID, _ term: UInt64) {
        role = .standby
        (lastContact, pause, told, self.primary, hasMore) = (now, .zero, .zero, primary, false)
        forgetful = []
        highestTerm = max(highestTerm, term)
    }

    /// Notes how far the members are.
    private mutating func learn(_ request: AppendRequest<Content>) {
        if knownTerm < request.term { (knownTerm, known) = (request.term, [:]) }
        known[request.primary] = request.head.number
        for (replica, number) in request.acked { known[replica] = max(number, known[replica] ?? 0) }
    }

    // MARK: - A whole copy

    mutating func begin(_ request: SnapshotRequest<Content>, _ ticket: UInt64) {
        guard mayObey(request.term) else { return answer(ticket, isGranted: false) }
        heard(from: request.primary, request.term)
        if request.number == 0, incoming?.id != request.id { incoming = IncomingCopy(id: request.id, next: 0) }
        guard let copy = incoming, copy.id == request.id, copy.next == request.number else {
            return answer(ticket, isGranted: isRepeated(request))
        }
        switch request.part {
        case .end(let position, let set, let digest):
            guard digest == copy.digest else {
                incoming = nil
                return answer(ticket, isGranted: false)
            }
            write(.finish(position, set), for: .snapshot(request, ticket: ticket))
        case .page, .batches:
            write(.part(request), for: .snapshot(request, ticket: ticket))
        }
    }

    /// Whether a part was stored before, and only the answer was lost.
    private func isRepeated(_ request: SnapshotRequest<Content>) -> Bool {
        if case .end(let position, _, _) = request.part { return record.position == position }
        return incoming.map { $0.id == request.id && $0.next == request.number + 1 } ?? false
    }

    mutating func wrote(_ request: SnapshotRequest<Content>, _ ticket: UInt64, _ isStored: Bool) {
        guard isStored else {
            incoming = nil
            return answer(ticket, isGranted: false, isFull: true)
        }
        record.promise(request.term, to: request.primary)
        if case .end(let position, let set, _) = request.part {
            (record.position, record.set, incoming) = (position, set, nil)
            recent.removeAll()
        } else {
            incoming = incoming.map {
                IncomingCopy(id: $0.id, next: $0.next + 1, digest: request.part.mixed(into: $0.digest))
            }
        }
        answer(ticket, isGranted: true)
    }
}

extension SnapshotRequest.Part {
    /// The digest of all parts up to this one.
    func mixed(into digest: UInt64) -> UInt64 {
        switch self {
        case .page(let content): LogPosition(term: 0, number: 0, hash: digest).next(in: 0, digest: content.digest).hash
        case .batches(let batches):
            batches.reduce(digest) {
                LogPosition(term: 0, number: 0, hash: $0).next(in: 1, digest: $1.position.hash).hash
            }
        case .end: digest
        }
    }
}
