import NIOConcurrencyHelpers
import NIOPosix
import Transport

/// Shares the room of a node's data folder: one budget of bytes is for the node's own journal and for the copies of others.
///
/// Each journal has a share, by which the coordinator that works with it deletes old jobs. What needs no share is kept: the batches
/// that begin a term, changes of the members and deletions, so that a full node never keeps a coordinator from being taken over and
/// its jobs from being deleted.
///
/// A disk that hangs is waited for on a thread for files only.
final class CopyRoom: Sendable {
    private struct State {
        var limit: Int
        /// What each journal holds, without what was deleted in it.
        var held: [CoordinatorID: Int] = [:]
        /// What the old copies hold beside which new ones are made.
        var anew: [CoordinatorID: Int] = [:]
        /// How many copies were damaged since the start.
        var damages = 0
        /// What was found when the disk was last looked at.
        var disk: (space: DiskSpace?, time: ContinuousClock.Instant)?

        var sum: Int { held.values.reduce(0, +) }
    }

    private let folder: String
    private let state: NIOLockedValueBox<State>
    /// Room that is given back for deletions, and for what a takeover stores, where the disk is full.
    let ballast: JournalBallast

    /// How long it counts what was found.
    private static let age = Duration.seconds(1)
    /// Coordinators of earlier versions heed no share. They may store so many bytes above twice the limit, which is what they could
    /// store in those versions.
    private static let excess = 16 << 20

    /// - Parameters:
    ///   - folder: the folder with the copies.
    ///   - limit: how many bytes all journals and copies may take.
    init(in folder: String, limit: Int) {
        self.folder = folder
        state = NIOLockedValueBox(State(limit: limit))
        ballast = JournalBallast(folder: folder)
    }

    /// How many bytes all journals and copies may take from now on.
    func setLimit(_ limit: Int) { state.withLockedValue { $0.limit = limit } }

    /// Notes what a journal holds.
    func note(_ bytes: Int, of coordinator: CoordinatorID) { state.withLockedValue { $0.held[coordinator] = bytes } }

    /// How many copies were damaged since the start.
    var damages: Int { state.withLockedValue { $0.damages } }

    func noteDamage() { state.withLockedValue { $0.damages += 1 } }

    /// What a journal holds.
    func held(by coordinator: CoordinatorID) -> Int { state.withLockedValue { $0.held[coordinator] ?? 0 } }

    /// A journal is not here any more.
    func forget(_ coordinator: CoordinatorID) {
        state.withLockedValue { ($0.held[coordinator], $0.anew[coordinator]) = (nil, nil) }
    }

    /// How many bytes the journals take but one.
    func bytes(but coordinator: CoordinatorID) -> Int {
        state.withLockedValue { $0.sum - ($0.held[coordinator] ?? 0) }
    }

    /// How many more bytes may be stored, on this disk too.
    var free: Int {
        get async {
            let disk = await look()
            return state.withLockedValue { max(0, CopyRoom.budget($0.limit, holding: $0.sum, disk) - $0.sum) }
        }
    }

    /// How many bytes a journal may take beside the others.
    ///
    /// - Parameter countsDisk: whether the share is smaller where the disk has less room than the limit. It is not where most of the disk
    ///   holds something else: no job of another node is deleted for what somebody has put on this one.
    func share(of coordinator: CoordinatorID, countsDisk: Bool) async -> Int {
        let found = countsDisk ? await look() : nil
        return state.withLockedValue { state in
            let disk = found.flatMap { CopyRoom.counts($0, holding: state.sum) ? $0 : nil }
            let others = state.held.filter { $0.key != coordinator }.map(\.value)
            return CopyRoom.share(of: CopyRoom.budget(state.limit, holding: state.sum, disk), beside: others)
        }
    }

    /// Whether at least half of what a disk holds are the journals.
    static func counts(_ disk: DiskSpace, holding sum: Int) -> Bool { sum >= (disk.size - disk.available) / 2 }

    private static func budget(_ limit: Int, holding sum: Int, _ disk: DiskSpace?) -> Int {
        disk.map { min(limit, sum + $0.available - 2 * JournalRoom.reserve(ofDisk: $0.size)) } ?? limit
    }

    /// What one may take of a budget: an equal share, and more where others take less than theirs (max-min fairness: Bertsekas and
    /// Gallager, "Data Networks", 6.5.2).
    static func share(of budget: Int, beside others: [Int]) -> Int {
        var left = budget
        for (index, held) in others.sorted().enumerated() {
            let equal = left / (others.count - index + 1)
            if held >= equal { return max(0, equal) }
            left -= held
        }
        return max(0, left)
    }

    /// Looks whether a copy may store what needs room.
    ///
    /// - Throws: `JournalError` of the kind `full` where it may not.
    func check() async throws(JournalError) {
        if let disk = await look(), disk.available < JournalRoom.reserve(ofDisk: disk.size) {
            throw JournalError(.full, "there is no room on the disk for copies of other nodes' jobs")
        }
        let (sum, limit) = state.withLockedValue { ($0.sum, $0.limit) }
        guard sum / 2 <= limit + CopyRoom.excess / 2 else {
            throw JournalError(
                .full,
                "the jobs of this node and the copies of others' hold \(sum >> 20) MiB and may hold \(limit >> 20) MiB (--data-limit)"
            )
        }
    }

    /// Begins to make a copy anew beside the old one. The new one will hardly be smaller.
    ///
    /// - Throws: `JournalError` of the kind `full` where the disk has no room for it and for those that are under way. Several that fill
    ///   it together would be begun again and again, and none would become whole.
    func begin(anew coordinator: CoordinatorID) async throws(JournalError) {
        guard let disk = await look() else { return }
        let hasRoom = state.withLockedValue { state in
            let needed = state.held[coordinator] ?? 0
            let others = state.anew.filter { $0.key != coordinator }.map(\.value)
            guard CopyRoom.fits(needed, beside: others, on: disk) else { return false }
            state.anew[coordinator] = needed
            return true
        }
        guard hasRoom else {
            throw JournalError(
                .full, "there is no room on the disk for a new copy of another node's jobs beside the old one")
        }
    }

    /// Whether a disk has room for another new copy beside those that are under way, of which it may have little yet.
    static func fits(_ needed: Int, beside others: [Int], on disk: DiskSpace) -> Bool {
        disk.available - JournalRoom.reserve(ofDisk: disk.size) >= others.reduce(needed, +)
    }

    /// The new copy is in the place of the old one, or was given up.
    func end(anew coordinator: CoordinatorID) { state.withLockedValue { $0.anew[coordinator] = nil } }

    private func look() async -> DiskSpace? {
        if let found = state.withLockedValue({ $0.disk }), found.time.duration(to: .now) < CopyRoom.age {
            return found.space
        }
        let space = await CopyRoom.onThreadForFiles { [folder, ballast] in
            ballast.reserve()
            return DiskSpace(of: folder)
        }
        state.withLockedValue { $0.disk = (space, .now) }
        return space
    }

    /// Whether the disk of a file or folder has little more left than what is kept free.
    static func isShort(at path: String) async -> Bool { await onThreadForFiles { JournalRoom.isShort(at: path) } }

    /// Also looks for a task that is cancelled, unlike `runIfActive`: what is stored at the end needs room, too.
    static func onThreadForFiles<Found: Sendable>(_ look: @escaping @Sendable () -> Found) async -> Found {
        await withCheckedContinuation { continuation in
            NIOThreadPool.singleton.submit { _ in continuation.resume(returning: look()) }
        }
    }
}
