import Synchronization
import Transport

/// Which of the client systems still exist. One that was shut down and let go of must be gone.
final class Census: Sendable {
    private struct Entry {
        weak var system: ClusterSystem?
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ system: ClusterSystem) {
        entries.withLock { $0.append(Entry(system: system)) }
    }

    /// Returns how many are left, and forgets the others.
    func alive() -> Int {
        entries.withLock { entries in
            entries.removeAll { $0.system == nil }
            return entries.count
        }
    }
}
