import Transport

@testable import SkyCore
@testable import SkyJobs

/// What survives the end of a process on a machine that keeps copies: the replica's record, the journal or its copy, and the
/// copy that is to replace it.
struct ReplicatedDisk {
    typealias Batch = LogBatch<ReplicatedEntries>

    /// Dies with the disk.
    let id: ReplicaID
    var record = ReplicaRecord()
    var journal = SimulatedJournal(ReplicatedDisk.coordinator)
    var ran = Duration.zero
    var recent = RecentBatches<ReplicatedEntries>()
    /// Whether this is the journal of the node's own coordinator, and no copy.
    var isOwn = false
    /// Whether no incarnation has begun, here or where this was copied from. None ends in order here.
    var isFirst: Bool { isOwn && journal.generation == 0 }
    /// Whether this is an earlier state of the disk, which has forgotten what it acknowledged since.
    var wasPutBack = false
    private var incoming = SimulatedJournal(ReplicatedDisk.coordinator)

    /// Whose journal it is.
    static let coordinator = CoordinatorID(rawValue: 1)

    init(id: ReplicaID = ReplicaID(rawValue: 0)) { self.id = id }

    /// - Parameter count: how many batches reach the disk before the machine ends.
    mutating func perform(_ write: ReplicaWrite<ReplicatedEntries>, upTo count: Int = .max) {
        switch write {
        case .promise(let term, let replica): record.promise(term, to: replica)
        case .append(let batches, let term, let primary):
            record.promise(term, to: primary)
            for batch in batches.prefix(count) {
                if let content = batch.content {
                    journal.append(content.entries)
                    ran = max(ran, content.ran)
                }
                record.position = batch.position
                if let set = batch.set { record.set = set }
                recent.append(batch)
            }
        case .part(let request):
            record.promise(request.term, to: request.primary)
            if request.number == 0 { incoming = SimulatedJournal(ReplicatedDisk.coordinator) }
            switch request.part {
            case .page(let page): incoming.copy(page.entries)
            case .batches(let batches): for batch in batches { incoming.copy(batch.content?.entries ?? []) }
            case .end: break
            }
        case .finish(let position, let set):
            (journal, incoming) = (incoming, SimulatedJournal(ReplicatedDisk.coordinator))
            (record.position, record.set) = (position, set)
            wasPutBack = false
            recent.removeAll()
        case .discard:
            record.position = nil
            recent.removeAll()
        }
    }

    /// The journal is kept aside for people, and does not count any more. What was promised does.
    mutating func setAside() {
        (journal, ran, isOwn) = (SimulatedJournal(ReplicatedDisk.coordinator), .zero, false)
        record.position = nil
        recent.removeAll()
    }
}
