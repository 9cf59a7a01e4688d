import Base
import DequeModule

/// Decides, as a value, what one replica of one coordinator's journal does: as the primary, which the coordinator lives on,
/// as a standby, which keeps a copy, and as a candidate, which takes over.
///
/// It is Raft (Ongaro and Ousterhout 2014; trials before elections and joint consensus as in Ongaro's thesis, 9.6 and 4.3),
/// cut to this case. A journal has one primary until that is lost, and a primary that is started again goes on in its term.
/// A primary stores a batch itself before it sends it, so that no standby ever has more than its primary. A copy is never cut
/// back: one that differs is replaced by a whole new one.
///
/// Whoever owns this value makes the writes and calls that it returns, one write at a time. Times count from the start of
/// the process.
struct ReplicaCore<Content: LogContent>: Sendable {
    /// What the owner has to do.
    enum Output: Sendable {
        /// To be stored durably. Call `wrote` when that is done, or has failed.
        case write(ReplicaWrite<Content>)
        /// A call. Call `replied` or `failed` with its number.
        case send(ReplicaRequest<Content>, to: ReplicaID, call: UInt64)
        case answer(ReplicaReply, ticket: UInt64)
        /// The next page of the primary's journal is wanted. Call `pageRead`.
        case read(for: ReplicaID, from: UInt64)
        /// This replica is the primary of this term, and what it has stored is committed: the coordinator may begin.
        case open(term: UInt64)
        /// Everything up to this batch is committed: it may be published.
        case committed(UInt64)
        /// A proposal is in the journal, as the batch with this number.
        case stored(proposal: UInt64, number: UInt64)
        /// A proposal cannot be stored now.
        case refused(proposal: UInt64)
        /// This replica is the primary no more: the coordinator must end.
        case close(ReplicaClosure)
    }

    enum Role: Sendable {
        case standby
        case candidate(Candidacy)
        case primary(Primary<Content>)
    }

    /// Something to do for which a write may be needed. They are done one after the other.
    enum Job: Sendable {
        case append(AppendRequest<Content>, ticket: UInt64)
        case snapshot(SnapshotRequest<Content>, ticket: UInt64)
        case promise(PromiseRequest, ticket: UInt64)
        case takeOver(TakeOverRequest, ticket: UInt64)
        /// This replica promises a term to itself.
        case stand(term: UInt64)
        case propose(Content?, ReplicaSet?, proposal: UInt64?)
        /// The primary promises the next term to a standby that is to take over.
        case handOver(to: ReplicaID)
        /// What is stored was put back from an earlier time.
        case discard
        /// A person lets this standby take over without a majority.
        case adopt(term: UInt64)
    }

    let own: ReplicaID
    var policy: CopyPolicy
    /// What is on the disk.
    var record: ReplicaRecord
    var role = Role.standby
    /// The last batches that are on the disk, in their order.
    var recent: RecentBatches<Content>
    var random: SplitMix64
    var now: Duration
    /// When the primary was last heard; the start where it was not heard yet.
    var lastContact: Duration
    /// How much longer than usual the primary may be silent: as it has said, and as long as its link is not in doubt.
    var told = Duration.zero
    var pause = Duration.zero
    /// The primary that was heard last; `nil` where none was since the start, or since this replica was the primary itself.
    var primary: ReplicaID?
    /// When this replica may ask for promises again.
    var mayStandAt: Duration
    /// Whether a candidate has asked that has less. Then it is for this replica to stand, whatever its rank.
    var hasMore = false
    /// The replicas whose nodes have said goodbye and are not back, and how long ago.
    var away: [ReplicaID: Duration] = [:]
    /// Whether this replica's own node is about to go.
    var isLeaving = false
    /// Why this replica was not adopted when a person last said so.
    var adoptionRefusal: AdoptionRefusal?
    /// The highest term that anybody spoke of.
    var highestTerm: UInt64
    /// How far the members are at least, as the primary of the term `knownTerm` said.
    var known: [ReplicaID: UInt64] = [:]
    var knownTerm: UInt64 = 0
    /// The members that had more when the primary was last heard, or have no copy: their promises do not count.
    var forgetful: Set<ReplicaID> = []
    /// How many bytes the journal holds, where this is the primary.
    var held = 0
    /// The replicas to whose nodes there is a link; `nil` where that is not known.
    var linked: Set<ReplicaID>?
    /// The replicas that may keep a copy, and have no room for all of the journal.
    var crowded: Set<ReplicaID> = []
    /// Whether the copy was damaged. It counts until there is a whole one again.
    var wasDamaged = false
    /// The copy that is coming in parts.
    var incoming: IncomingCopy?
    var jobs: Deque<Job> = []
    /// The job whose write is under way.
    var underWay: Job?
    /// The batch that the write under way stores, if this replica made it.
    var ownBatch: LogBatch<Content>?
    var lastCall: UInt64 = 0
    var outputs: [Output] = []

    /// - Parameters:
    ///   - record: what is on the disk.
    ///   - recent: the last batches that are on the disk.
    init(
        _ own: ReplicaID, record: ReplicaRecord, recent: RecentBatches<Content>, policy: CopyPolicy, seed: UInt64,
        now: Duration
    ) {
        (self.own, self.record, self.recent, self.policy, self.now) = (own, record, recent, policy, now)
        random = SplitMix64(seed: seed)
        (lastContact, mayStandAt) = (now, now)
        highestTerm = record.promised
        // Whoever has won a term has written a batch in it. No other replica has a batch of it and the promise to itself, which one
        // that has lost takes back (`ReplicaRecord.promise`).
        if record.promisedTo == own, record.position?.term == record.promised {
            role = .primary(Primary(term: record.promised, firstNumber: record.position?.number ?? 0, now: now))
        }
    }

    /// A coordinator's first replica, which has no journal yet. It is its own primary.
    static func first(_ own: ReplicaID, policy: CopyPolicy, seed: UInt64, now: Duration) -> ReplicaCore {
        var core = ReplicaCore(
            own, record: ReplicaRecord(position: .start, set: ReplicaSet(members: [own])), recent: RecentBatches(),
            policy: policy, seed: seed, now: now)
        core.ask(for: 1)
        return core
    }

    var isPrimary: Bool { if case .primary = role { true } else { false } }

    /// Whether the write under way is one that a primary waits for to begin.
    var isOpening: Bool {
        if case .append(let request, _) = underWay { request.isOpening == true } else { false }
    }

    /// Handles one event and returns what to do, in order.
    mutating func at(_ now: Duration, _ event: (inout ReplicaCore) -> Void) -> [Output] {
        self.now = max(self.now, now)
        event(&self)
        proceed()
        defer { outputs = [] }
        return outputs
    }

    // MARK: - Events

    /// The process begins. A primary that need not ask anybody may go on at once.
    mutating func begin() { commit() }

    /// Another replica asks for something. Every ticket is answered.
    mutating func receive(_ request: ReplicaRequest<Content>, ticket: UInt64) {
        switch request {
        case .append(let request): jobs.append(.append(request, ticket: ticket))
        case .snapshot(let request): jobs.append(.snapshot(request, ticket: ticket))
        case .promise(let request): jobs.append(.promise(request, ticket: ticket))
        case .takeOver(let request): jobs.append(.takeOver(request, ticket: ticket))
        }
    }

    /// The coordinator wants something stored.
    mutating func propose(_ content: Content, proposal: UInt64) {
        jobs.append(.propose(content, nil, proposal: proposal))
    }

    /// Some time has passed. Call it after each `tickPause`.
    ///
    /// - Parameters:
    ///   - available: the replicas that may keep a copy and can be reached, the best first.
    ///   - away: the replicas whose nodes have said goodbye and are not back, and how long ago.
    mutating func tick(available: [ReplicaID], away: [ReplicaID: Duration] = [:]) {
        self.away = away
        switch role {
        case .standby: standIfDue(available)
        case .candidate(let candidacy):
            if now >= candidacy.end { endCandidacy(candidacy) }
        case .primary:
            noteHead()
            leave(to: available)
            choose(among: available)
            shipAll()
        }
    }

    /// A call has an answer.
    mutating func replied(_ reply: ReplicaReply, from replica: ReplicaID, call: UInt64) {
        guard reply.hasEnded != true else { return outputs.append(.close(.ended)) }
        highestTerm = max(highestTerm, reply.promised)
        guard reply.isUnneeded != true else {
            // One that knows of a later term may be wanted by the primary of that, and the primary that answered may have begun to send
            // a copy meanwhile.
            if !isPrimary, reply.promised >= record.promised, now - lastContact >= policy.adoptAfter {
                outputs.append(.close(.unneeded))
            }
            return
        }
        askPrimary(as: reply, of: replica)
        switch role {
        case .standby: break
        case .candidate: promised(reply, by: replica, call)
        case .primary: acknowledged(reply, by: replica, call)
        }
    }

    /// A call has failed, or has no answer in time.
    mutating func failed(to replica: ReplicaID, call: UInt64) {
        if case .candidate = role { return unanswered(call) }
        guard case .primary(var primary) = role, primary.followers[replica]?.call == call else { return }
        primary.followers[replica]?.call = nil
        primary.followers[replica]?.hasFailed = true
        role = .primary(primary)
    }

    /// The link to the node of a replica is in doubt, or lost: from now on it is not waited for as long as if all were well. If it is the
    /// primary's, the primary counts as lost about as soon as ever.
    mutating func doubted(_ replica: ReplicaID) {
        stir()
        if case .primary(var primary) = role {
            primary.followers[replica]?.doubt(policy, now)
            role = .primary(primary)
        } else if replica == primary {
            pause = policy.doubtfulPause(pause, since: lastContact, now)
        }
    }

    /// The link to the node of a replica is well again: its process was there all the time. One that was held up for a moment does not
    /// know that it was in doubt, and calls when it has said.
    mutating func trusted(_ replica: ReplicaID) {
        stir()
        if !isPrimary, replica == primary { pause = told }
    }

    /// Something happens around a primary: it calls its standbys as often as usual for a while.
    mutating func stir() {
        guard case .primary(var primary) = role else { return }
        primary.lastBusy = now
        role = .primary(primary)
    }

    // MARK: - Jobs

    /// Does what waits, until something has to be written.
    mutating func proceed() {
        while underWay == nil, let job = jobs.popFirst() { begin(job) }
    }

    private mutating func begin(_ job: Job) {
        switch job {
        case .append(let request, let ticket): begin(request, ticket)
        case .snapshot(let request, let ticket): begin(request, ticket)
        case .promise(let request, let ticket): begin(request, ticket)
        case .takeOver(let request, let ticket): begin(request, ticket)
        case .stand(let term):
            // Somebody else may have been heard meanwhile.
            guard case .candidate(let candidacy) = role, candidacy.term == term, term > record.promised else { return }
            write(.promise(term, to: own), for: job)
        case .propose(let content, let set, let proposal):
            guard case .primary(let primary) = role, let position = record.position else {
                if let proposal { outputs.append(.refused(proposal: proposal)) }
                return
            }
            let batch = LogBatch(after: position, term: primary.term, content: content, set: set)
            ownBatch = batch
            write(.append([batch], promised: primary.term, to: own), for: job)
        case .handOver(let standby):
            guard case .primary(let primary) = role, let position = record.position,
                primary.followers[standby]?.acked == position.number
            else { return }
            write(.promise(primary.term + 1, to: standby), for: job)
        case .discard: write(.discard, for: job)
        case .adopt(let asked):
            guard !isPrimary, record.position != nil else { return }
            let term = max(asked, max(record.promised, highestTerm) + 1)
            write(.promise(term, to: own), for: .adopt(term: term))
        }
    }

    mutating func write(_ write: ReplicaWrite<Content>, for job: Job) {
        underWay = job
        outputs.append(.write(write))
    }

    /// The write under way is done.
    ///
    /// - Parameter isStored: whether it is on the disk. Where it is not, nothing of it is.
    mutating func wrote(_ isStored: Bool) {
        guard let job = underWay else { return }
        underWay = nil
        switch job {
        case .append(let request, let ticket): wrote(request, ticket, isStored)
        case .snapshot(let request, let ticket): wrote(request, ticket, isStored)
        case .promise(let request, let ticket): wrote(request, ticket, isStored)
        case .takeOver(let request, let ticket):
            if isStored { record.promise(request.term, to: own) }
            answer(ticket, isGranted: isStored)
            if isStored { claim(request.term, granted: [own, request.primary], isHandOver: true) }
        case .stand(let term):
            guard isStored else { return giveUpCandidacy() }
            record.promise(term, to: own)
            claim(term, granted: [own])
        case .propose(_, let set, let proposal):
            let batch = ownBatch
            ownBatch = nil
            guard isStored, let batch else {
                if let proposal { outputs.append(.refused(proposal: proposal)) }
                if proposal == nil { notStored(set) }
                return
            }
            storedOwn(batch, proposal)
        case .handOver(let standby):
            guard isStored, case .primary(let primary) = role, let position = record.position else { return }
            record.promise(primary.term + 1, to: standby)
            send(
                .takeOver(TakeOverRequest(term: primary.term + 1, primary: own, position: position)), to: standby)
            stepDown(.handedOver(to: standby))
        case .discard:
            // A copy that cannot be discarded is discarded at the next start, when others notice it once more.
            record.position = nil
            recent.removeAll()
        case .adopt(let term):
            guard isStored else { return }
            record.promise(term, to: own)
            claimOnWord(term)
        }
    }

    // MARK: - What all roles do

    mutating func answer(_ ticket: UInt64, isGranted: Bool, isAhead: Bool = false, isFull: Bool = false) {
        let reply = ReplicaReply(
            promised: record.promised, position: record.position, isGranted: isGranted, isAhead: isAhead,
            isFull: isFull, wasDamaged: wasDamaged && record.position == nil ? true : nil, heedsPause: true,
            primary: isGranted || isPrimary ? nil : primary ?? record.promisedTo)
        outputs.append(.answer(reply, ticket: ticket))
    }

    /// - Returns: the number of the call.
    @discardableResult
    mutating func send(_ request: ReplicaRequest<Content>, to replica: ReplicaID) -> UInt64 {
        lastCall += 1
        outputs.append(.send(request, to: replica, call: lastCall))
        return lastCall
    }

    /// The copy is damaged, and was set aside. What was promised still counts, and nothing that was acknowledged.
    mutating func copyLost() {
        if isPrimary { stepDown(.rolledBack) }
        (role, record.position, incoming, wasDamaged) = (.standby, nil, nil, true)
        recent.removeAll()
    }

    /// This replica is the primary no more.
    mutating func stepDown(_ closure: ReplicaClosure) {
        guard isPrimary else { return }
        (role, primary) = (.standby, nil)
        (lastContact, pause, told) = (now, .zero, .zero)
        mayStandAt = now + policy.adoptAfter
        outputs.append(.close(closure))
    }
}
