import Foundation
import NIOConcurrencyHelpers
import NIOPosix

/// Whether there is room for copies of other nodes' journals: they may take as much as the node's own journal may, and no more than
/// leaves the disk what its own journal needs.
///
/// A disk that hangs is waited for on a thread for files only.
final class CopyRoom: Sendable {
    private struct Finding {
        var bytes: Int
        var isShort: Bool
        var time: ContinuousClock.Instant
    }

    private struct State {
        var limit: Int
        /// What was found when the disk was last looked at.
        var found: Finding?
    }

    private let folder: String
    private let state: NIOLockedValueBox<State>

    /// How long it counts what was found.
    private static let age = Duration.seconds(1)

    /// - Parameters:
    ///   - folder: the folder with the copies.
    ///   - limit: how many bytes they may take.
    init(in folder: String, limit: Int) {
        self.folder = folder
        state = NIOLockedValueBox(State(limit: limit))
    }

    /// How many bytes copies may take from now on.
    func setLimit(_ limit: Int) { state.withLockedValue { $0.limit = limit } }

    /// How many bytes the copies take.
    var bytes: Int { get async { await look().bytes } }

    /// - Throws: `JournalError` of the kind `full` where nothing more may be stored.
    func check() async throws(JournalError) {
        let found = await look()
        guard !found.isShort else {
            throw JournalError(.full, "there is no room on the disk for copies of other nodes' jobs")
        }
        let limit = state.withLockedValue { $0.limit }
        guard found.bytes <= limit else {
            throw JournalError(
                .full,
                "copies of other nodes' jobs hold \(found.bytes >> 20) MiB and may hold \(limit >> 20) MiB (--data-limit)"
            )
        }
    }

    private func look() async -> Finding {
        if let found = state.withLockedValue({ $0.found }), found.time.duration(to: .now) < CopyRoom.age {
            return found
        }
        let found = await CopyRoom.onThreadForFiles { [folder] in
            Finding(bytes: CopyRoom.bytes(below: folder), isShort: JournalRoom.isShort(at: folder), time: .now)
        }
        state.withLockedValue { $0.found = found }
        return found
    }

    /// Whether the disk of a file or folder has little more left than what is kept free.
    static func isShort(at path: String) async -> Bool { await onThreadForFiles { JournalRoom.isShort(at: path) } }

    /// Also looks for a task that is cancelled, unlike `runIfActive`: what is stored at the end needs room, too.
    private static func onThreadForFiles<Found: Sendable>(_ look: @escaping @Sendable () -> Found) async -> Found {
        await withCheckedContinuation { continuation in
            NIOThreadPool.singleton.submit { _ in continuation.resume(returning: look()) }
        }
    }

    /// What the files of all copies hold. A file that goes away meanwhile holds nothing.
    private static func bytes(below folder: String) -> Int {
        let manager = FileManager.default
        return ((try? manager.contentsOfDirectory(atPath: folder)) ?? []).reduce(0) { sum, copy in
            let files = (try? manager.contentsOfDirectory(atPath: folder + "/" + copy)) ?? []
            return files.reduce(sum) { sum, file in
                var status = stat()
                guard stat(folder + "/" + copy + "/" + file, &status) == 0 else { return sum }
                return sum + Int(status.st_blocks) * 512
            }
        }
    }
}
