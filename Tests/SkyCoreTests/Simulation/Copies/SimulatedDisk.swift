import Transport

@testable import SkyCore

/// What survives the end of a process: a replica's record, its copy, and the copy that is to replace it.
struct SimulatedDisk {
    typealias Batch = LogBatch<SimulatedContent>

    let id: ReplicaID
    var record: ReplicaRecord
    var rows = SimulatedRows()
    var recent = RecentBatches<SimulatedContent>()
    /// Whether this is an earlier state of the disk, which has forgotten what it acknowledged since.
    var wasPutBack = false
    /// Whether promises are kept in memory only, which is a mistake.
    var forgetsPromises = false
    private var incoming = SimulatedRows()

    init(_ id: ReplicaID, record: ReplicaRecord = ReplicaRecord()) {
        (self.id, self.record) = (id, record)
    }

    mutating func perform(_ write: ReplicaWrite<SimulatedContent>) {
        switch write {
        case .promise(let term, let replica): if !forgetsPromises { record.promise(term, to: replica) }
        case .append(let batches, let term, let primary):
            record.promise(term, to: primary)
            for batch in batches {
                rows.append(batch.content)
                record.position = batch.position
                if let set = batch.set { record.set = set }
                recent.append(batch)
            }
        case .part(let request):
            record.promise(request.term, to: request.primary)
            if request.number == 0 { incoming = SimulatedRows() }
            switch request.part {
            case .page(let page): incoming.append(page)
            case .batches(let batches): for batch in batches { incoming.append(batch.content) }
            case .end: break
            }
        case .finish(let position, let set):
            (rows, incoming) = (incoming, SimulatedRows())
            (record.position, record.set) = (position, set)
            recent.removeAll()
            wasPutBack = false
        case .discard:
            record.position = nil
            rows = SimulatedRows()
            recent.removeAll()
        }
    }
}
