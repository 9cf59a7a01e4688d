import Foundation
import GRDB
import NIOConcurrencyHelpers
import Transport

/// Stores what a replica decides: promises in the node's book, batches in the coordinator's own journal or in a copy.
actor ReplicaStore {
    /// What is stored now.
    private enum Place {
        /// The journal of a coordinator that works with it, and the folder of the copy that it was; `nil` where it is in the place
        /// of the node's own journal.
        case used(Journal, JournalFolder?)
        /// A copy of another node's journal, in a folder of its own; the journal is `nil` while nothing has come.
        case copy(JournalFolder, Journal?)
    }

    let coordinator: CoordinatorID
    private let book: ReplicaBook
    private var place: Place
    /// The copy that is to replace the other.
    private var next: Journal?
    private let limits: JournalLimits
    let room: CopyRoom
    /// The promise that is known to be on the disk.
    private var promised: (term: UInt64, to: ReplicaID?) = (0, nil)

    /// A store in the journal of a coordinator that works here.
    init(_ journal: Journal, room: CopyRoom, book: ReplicaBook) {
        (coordinator, self.book, limits) = (journal.incarnation.coordinator, book, journal.limits)
        place = .used(journal, nil)
        self.room = room
    }

    /// A store in a copy.
    ///
    /// - Throws: `JournalError` where the folder or the copy cannot be used.
    init(
        copyOf coordinator: CoordinatorID, in folder: String, limits: JournalLimits, room: CopyRoom, book: ReplicaBook
    ) throws(JournalError) {
        (self.coordinator, self.book, self.limits, self.room) = (coordinator, book, limits, room)
        let folder = try JournalFolder(folder)
        ReplicaStore.remove(folder.path + "/" + CopiesFolder.nextName)
        let isThere =
            (try? FileManager.default.attributesOfItem(atPath: folder.path + "/" + CopiesFolder.journalName)) != nil
        place = .copy(folder, nil)
        guard isThere else { return }
        do throws(JournalError) {
            if FileInode.size(of: folder.path + "/" + CopiesFolder.journalName) == 0 {
                throw JournalError(.damaged, "\(folder.path)/\(CopiesFolder.journalName) is empty")
            }
            let copy = try Journal(copy: CopiesFolder.journalName, in: folder, limits: limits, ballast: room.ballast)
            place = .copy(folder, copy)
            guard try ReplicaStore.belongs(copy, to: coordinator) else {
                throw JournalError(.damaged, "it is the journal of another coordinator")
            }
        } catch {
            let path = folder.path + "/" + CopiesFolder.journalName
            guard error.kind == .damaged || !Journal.isUsable(path) else { throw error }
            if case .copy(_, let copy?) = place { copy.end() }
            place = .copy(folder, nil)
            try CopiesFolder(above: folder.path).setAside(filesIn: folder.path)
            damage = error.message
        }
    }

    /// What was wrong with a copy that was set aside; `nil` where none was.
    private(set) var damage: String?

    private static func belongs(_ copy: Journal, to coordinator: CoordinatorID) throws(JournalError) -> Bool {
        do {
            let id = try copy.queue.read { try Int64.fetchOne($0, sql: "SELECT id FROM coordinator") }
            return id.map { $0 == Journal.key(coordinator) } ?? true
        } catch {
            throw Journal.failure(error, copy.path)
        }
    }

    /// Looks for damage in the copy. A damaged one is set aside, so that the primary makes it anew. A journal that a coordinator works
    /// with is left as it is.
    ///
    /// - Returns: what is damaged; `nil` where nothing is.
    func scrub() async -> String? {
        guard case .copy(let folder, let copy?) = place, let path = copy.path else { return nil }
        let found = await CopyRoom.onThreadForFiles { copy.isInPlace ? Journal.damage(in: path) : "it was replaced" }
        // It may have been replaced by a whole new copy meanwhile, or be in use.
        guard let found, case .copy(_, let now?) = place, now === copy else { return nil }
        copy.end()
        place = .copy(folder, nil)
        room.note(0, of: coordinator)
        damage = found
        do {
            try CopiesFolder(above: folder.path).setAside(filesIn: folder.path)
        } catch {
            damage = "\(found); it cannot be set aside: \(error.message)"
        }
        return damage
    }

    private func openCopy(in folder: JournalFolder) throws(JournalError) -> Journal {
        try Journal(copy: CopiesFolder.journalName, in: folder, limits: limits, ballast: room.ballast)
    }

    private var journal: Journal? {
        switch place {
        case .used(let journal, _): journal
        case .copy(_, let journal): journal
        }
    }

    /// That the replica speaks for the coordinator from a node; `nil` where there is no whole copy, and where an earlier version made
    /// the journal.
    func proof(of replica: ReplicaID, from node: NodeID) async -> IdentityProof? {
        await key?.proof(from: node, "\(replica)")
    }

    /// The coordinator's key, as far as it is known here.
    private var key: IdentityKey? {
        get async {
            let secret = try? await journal?.read { database in
                try Data.fetchOne(
                    database, sql: "SELECT secret FROM coordinator WHERE id = ?",
                    arguments: [Journal.key(self.coordinator)])
            }
            guard let secret = (secret ?? nil).map({ Array($0) }) else { return nil }
            if let derivedKey, derivedKey.secret == secret { return derivedKey.key }
            let key = IdentityKey.of(coordinator, secret: secret)
            derivedKey = (secret, key)
            return key
        }
    }

    /// The last secret, and what follows from it. Each call of another node asks for it, and to derive it takes a quarter of a
    /// millisecond.
    private var derivedKey: (secret: [UInt8], key: IdentityKey?)?

    /// Whether only those count here that prove that they speak for the coordinator.
    var needsProof: Bool { get async { await key != nil } }

    /// What is on the disk.
    func record() async throws(JournalError) -> (record: ReplicaRecord, recent: RecentBatches<CopiedRows>) {
        try await measure()
        let promise = try await book.promise(about: coordinator)
        promised = promise
        var record = ReplicaRecord(promised: promise.term, promisedTo: promise.to)
        let stored = try await journal?.read { try StoredBatch.read($0) } ?? nil
        guard let stored else { return (record, RecentBatches()) }
        (record.position, record.set) = (stored.position, stored.set)
        return (record, stored.recent)
    }

    /// How many bytes the journal or the copy holds.
    nonisolated var held: Int { room.held(by: coordinator) }

    private func measure() async throws(JournalError) {
        room.note(try await journal?.heldBytes() ?? 0, of: coordinator)
    }

    /// Sets what the journal of a coordinator that works here may hold beside others, here and at the nodes that keep copies.
    ///
    /// - Parameter elsewhere: the least of what those nodes have for it, and whether that is a wish only.
    func share(elsewhere: (bytes: Int, node: String, isWish: Bool)?) async {
        guard case .used(let journal, _) = place else { return }
        let here = await room.share(of: coordinator, countsDisk: false)
        journal.share.withLockedValue { share in
            share = (here, .copies)
            if let elsewhere, elsewhere.bytes < here {
                share = (elsewhere.bytes, .standby(elsewhere.node, isWish: elsewhere.isWish))
            }
        }
    }

    /// Brings a copy below its share, as far as its write-ahead log and the batches that are kept for others allow: the rest is the
    /// primary's to delete. The share is smaller where others have grown while nothing was stored in this copy.
    func keepToShare() async {
        guard case .copy(_, let copy?) = place else { return }
        let share = await room.share(of: coordinator, countsDisk: true)
        // Nothing is left to delete where the last look found the same.
        guard held > share, held > kept.bytes || share < kept.share else { return }
        copy.share.withLockedValue { $0 = (share, .copies) }
        guard let left = try? await copy.keepToLimit(), case .copy(_, let now?) = place, now === copy else { return }
        room.note(left.held, of: coordinator)
        kept = (left.held, share)
        try? await copy.shrink()
    }

    /// What a copy held that was brought below a share, as far as possible.
    private var kept = (bytes: 0, share: Int.max)

    /// Stores what a replica has decided.
    ///
    /// - Parameters:
    ///   - own: the rows of the batch, where this node's coordinator has made it.
    ///   - isOpening: whether a primary waits for it to begin, so that it may take the last room.
    ///   - recent: the batches that are kept beside those that are stored now; `nil` where none are, because nobody keeps a copy.
    /// - Returns: what was stored of a coordinator's entries.
    func perform(
        _ write: ReplicaWrite<CopiedRows>, own: (rows: [JournalRow], ran: Duration?)?, set: ReplicaSet,
        recent: RecentBatches<CopiedRows>?, isOpening: Bool = false
    ) async throws(JournalError) -> Journal.Appended? {
        switch write {
        case .promise(let term, let replica):
            try await promise(term, to: replica)
            return nil
        case .append(let batches, let term, let primary):
            try await promise(term, to: primary)
            if own == nil, case .copy(_, let copy?) = place {
                let share = await room.share(of: coordinator, countsDisk: true)
                copy.share.withLockedValue { $0 = (share, .copies) }
            }
            if own == nil, !isOpening, write.needsRoom(hasCopy: true) {
                do throws(JournalError) {
                    try await room.check()
                } catch {
                    guard write.makesRoom else { throw error }
                }
            }
            let appended = try await append(batches, own, set, recent)
            room.note(appended.room.held, of: coordinator)
            // It has caught up without the new copy that a lost primary began.
            if next != nil { giveUpNext() }
            // What was deleted in a copy is given back as it is in the journal.
            if own == nil, appended.mayShrink { try? await journal?.shrink() }
            return appended
        case .part(let request):
            do throws(JournalError) {
                if write.needsRoom(hasCopy: journal != nil) { try await room.check() }
                // A new copy lies beside the old one until it is whole.
                if request.number == 0, journal != nil { try await room.begin(anew: coordinator) }
                try await promise(request.term, to: request.primary)
                try await append(request)
            } catch {
                giveUpNext()
                throw error
            }
            return nil
        case .finish(let position, let set):
            try await finish(position, set)
            return nil
        case .discard:
            // A journal in use is set aside when the coordinator has ended (`becomeCopy`). If the process ends before that, it still
            // says what it was, and is not taken for one that nobody else knows of.
            if case .copy(_, let journal) = place { try await ReplicaStore.discard(journal) }
            return nil
        }
    }

    /// What is in a copy does not count any more.
    private static func discard(_ copy: Journal?) async throws(JournalError) {
        try await copy?.write { try $0.execute(sql: "DELETE FROM replica; DELETE FROM batch") }
    }

    private func promise(_ term: UInt64, to replica: ReplicaID) async throws(JournalError) {
        guard term >= promised.term, promised != (term, replica) else { return }
        do {
            try await book.promise(term, to: replica, about: coordinator)
        } catch {
            guard error.kind == .full else { throw JournalError(.unpromised, error.message) }
            guard room.ballast.release() else { throw error }
            try await book.promise(term, to: replica, about: coordinator)
        }
        promised = (term, replica)
    }

    private func append(
        _ batches: [LogBatch<CopiedRows>], _ own: (rows: [JournalRow], ran: Duration?)?, _ set: ReplicaSet,
        _ recent: RecentBatches<CopiedRows>?
    ) async throws(JournalError) -> Journal.Appended {
        guard let journal else { throw JournalError(.inaccessible, "there is no copy to append to") }
        let firstKept = recent?.firstNumber(appending: batches)
        var set = set
        var (rows, ran, stored) = ([] as [JournalRow], nil as Duration?, [] as [StoredBatch])
        for batch in batches {
            // One's own batches come one at a time.
            var content = own ?? ([], nil)
            if own == nil, let copied = batch.content { content = try copied.rows() }
            rows += content.rows
            ran = content.ran ?? ran
            if let changed = batch.set { set = changed }
            let keepFrom = batch.content?.isMark == true ? nil : firstKept
            stored.append(
                StoredBatch(
                    batch: batch,
                    body: keepFrom.flatMap { _ in batch.content?.trimmed(content.rows, ran: content.ran) }, set: set,
                    keepFrom: keepFrom))
        }
        if stored.contains(where: { $0.set.members.count > 1 }) { try await journal.syncAlways() }
        // All of them or none: the replica counts on either.
        return try await journal.append(rows, ran: ran, batches: stored)
    }

    // MARK: - A whole copy

    private func append(_ request: SnapshotRequest<CopiedRows>) async throws(JournalError) {
        if request.number == 0 {
            removeNext()
            try makeFolderAgain()
        }
        guard case .copy(let folder, _) = place else {
            throw JournalError(.inaccessible, "a journal in use is not replaced")
        }
        if next == nil {
            guard request.number == 0 else { throw JournalError(.inaccessible, "the copy has to begin anew") }
            next = try Journal(copy: CopiesFolder.nextName, in: folder, limits: limits, ballast: room.ballast)
        }
        guard let next else { return }
        func append(_ content: CopiedRows) async throws(JournalError) {
            let (rows, ran) = try content.rows()
            for case .coordinator(let named, _) in rows where named != coordinator {
                throw JournalError(.damaged, "what came is of the journal of another coordinator")
            }
            let appended = try await next.append(rows, ran: ran)
            if appended.room.held > held { room.note(appended.room.held, of: coordinator) }
        }
        switch request.part {
        case .page(let page): try await append(page)
        case .batches(let batches): for case let content? in batches.map(\.content) { try await append(content) }
        case .end: break
        }
    }

    /// The primary begins anew where a part could not be stored. Nothing of the copy stays, least of all on a full disk.
    private func giveUpNext() {
        removeNext()
        room.end(anew: coordinator)
    }

    /// Somebody may have removed the folder with all that was in it.
    private func makeFolderAgain() throws(JournalError) {
        guard case .copy(let folder, let old) = place, access(folder.path, F_OK) != 0, errno == ENOENT else { return }
        old?.end()
        place = .copy(try JournalFolder(folder.path), nil)
    }

    private func removeNext() {
        guard case .copy(let folder, _) = place else { return }
        next?.end()
        next = nil
        ReplicaStore.remove(folder.path + "/" + CopiesFolder.nextName)
    }

    private func finish(_ position: LogPosition, _ set: ReplicaSet) async throws(JournalError) {
        guard case .copy(let folder, let old) = place, let next else {
            throw JournalError(.inaccessible, "there is no new copy")
        }
        try await next.write { try StoredBatch.store(position, set, in: $0) }
        await next.checkpoint()
        next.end()
        old?.end()
        (self.next, place) = (nil, .copy(folder, nil))
        let (from, to) = (folder.path + "/" + CopiesFolder.nextName, folder.path + "/" + CopiesFolder.journalName)
        ReplicaStore.remove(to)
        guard rename(from, to) == 0 else {
            throw JournalError(.inaccessible, "\(to): \(String(cString: strerror(errno)))")
        }
        folder.sync()
        room.end(anew: coordinator)
        place = .copy(folder, try openCopy(in: folder))
        try await measure()
    }

    private static func remove(_ path: String) {
        for suffix in DatabaseFile.suffixes { unlink(path + suffix) }
    }

    /// Opens the copy as the journal of a coordinator that works here from now on.
    func open(term: UInt64) async throws(JournalError) -> Journal {
        switch place {
        case .used(let journal, _): return journal
        case .copy(let folder, let copy):
            guard let copy else { throw JournalError(.damaged, "the copy is damaged, and was set aside") }
            copy.end()
            let journal = try Journal(takenOver: folder, limits: limits, ballast: room.ballast, term: term)
            place = .used(journal, folder)
            return journal
        }
    }

    /// The coordinator that worked here has ended: its journal is a copy from now on.
    ///
    /// - Parameter isSetAside: whether what is stored does not count any more. The node's own journal is then kept under another name.
    /// - Returns: the new journal in the place of the node's own, if it was this one.
    func becomeCopy(isSetAside: Bool) async throws(JournalError) -> Journal? {
        guard case .used(let journal, let folder) = place else { return nil }
        if let folder {
            journal.end()
            place = .copy(folder, nil)
            let copy = try openCopy(in: folder)
            place = .copy(folder, copy)
            if isSetAside { try await ReplicaStore.discard(copy) }
            return nil
        }
        let name = "copies/\(coordinator)"
        let copies = try JournalFolder((journal.folderPath ?? "") + "/" + name)
        let new = try journal.replace(
            keptAs: isSetAside ? ReplicaStore.nameAside(coordinator) : name + "/" + CopiesFolder.journalName)
        place = .copy(copies, isSetAside ? nil : try openCopy(in: copies))
        try await measure()
        return new
    }

    /// The name of a journal that was set aside.
    static func nameAside(_ coordinator: CoordinatorID) -> String { Journal.asideName + "\(coordinator).sqlite" }

    /// The next page of the journal, for a standby.
    func page(from cursor: UInt64) async throws(JournalError) -> (page: CopiedRows, next: UInt64?) {
        guard let journal else { throw JournalError(.inaccessible, "there is no journal") }
        return try await journal.page(from: cursor)
    }
}

extension ReplicaStore {
    /// How many jobs are stored; `nil` where that cannot be read.
    var jobCount: Int? {
        get async { try? await journal?.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM job") } ?? nil }
    }
}
