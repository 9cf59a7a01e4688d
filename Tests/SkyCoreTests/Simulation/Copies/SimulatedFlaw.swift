import Transport

@testable import SkyCore

/// A mistake that somebody might make in the protocol of the copies. The simulation makes it on purpose, to show that it
/// would be found.
enum SimulatedFlaw: CaseIterable {
    /// A promise is kept in memory only.
    case promiseNotDurable
    /// A replica promises a term to a second candidate.
    case promisedTwice
    /// A standby acknowledges batches before it has stored them.
    case acknowledgedBeforeStored
    /// The longer journal counts as the later one, whatever its term.
    case lengthBeforeTerm
    /// A copy takes parts without asking which copy they are of, and counts as whole without a look at what came.
    case copyWithoutHash
    /// A node that goes in order neither waits nor gives back its vote.
    case goodbyeKeepsVote
    /// A goodbye counts once more when the node is back, so that its vote is given back twice.
    case goodbyeOutlivesReturn
    /// A primary that hears goodbyes drops the votes without asking the former members.
    case goodbyeWithoutConsent
    /// A node without jobs goes in order although copies lack what was published.
    case goodbyeBeforeCopies
    /// A standby without room refuses the batch that begins a term, too.
    case termRefusedForRoom
}

extension SimulatedReplicas {
    /// Makes the mistake where a request arrives.
    ///
    /// - Returns: the request as the replica takes it, and an answer that is given without it.
    func flawed(
        _ request: ReplicaRequest<SimulatedContent>, at host: Int
    ) -> (request: ReplicaRequest<SimulatedContent>, answer: ReplicaReply?) {
        guard let flaw, let core = hosts[host].process?.core else { return (request, nil) }
        let record = core.record
        switch (flaw, request) {
        case (.promisedTwice, .promise(let promise)):
            guard !promise.isTrial, promise.term == record.promised, !core.isPrimary,
                record.position.map({ $0 <= promise.position }) == true
            else { return (request, nil) }
            return (request, ReplicaReply(promised: promise.term, position: record.position, isGranted: true))
        case (.acknowledgedBeforeStored, .append(let append)):
            guard append.term >= record.promised, append.previous == record.position, let last = append.batches.last
            else { return (request, nil) }
            return (request, ReplicaReply(promised: append.term, position: last.position, isGranted: true))
        case (.lengthBeforeTerm, .promise(var promise)):
            if promise.position.number >= record.position?.number ?? 0 { promise.position.term = .max }
            return (.promise(promise), nil)
        case (.copyWithoutHash, .snapshot(var snapshot)):
            guard let copy = core.incoming, snapshot.number > 0 else { return (request, nil) }
            (snapshot.id, snapshot.number) = (copy.id, copy.next)
            if case .end(let position, let set, _) = snapshot.part {
                snapshot.part = .end(position, set, digest: copy.digest)
            }
            return (.snapshot(snapshot), nil)
        default: return (request, nil)
        }
    }
}
