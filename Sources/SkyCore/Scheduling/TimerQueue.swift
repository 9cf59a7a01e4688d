import HeapModule
import Transport

/// Which timers are due, and when. Entries are never removed early: one that no longer applies is recognised by its ticket
/// and skipped.
struct TimerQueue {
    /// What happens when an entry is due.
    enum Purpose {
        /// A back-off has ended.
        case retry(RetryEntry, of: JobID)
        /// A retry has waited long enough for a node of its choice.
        case relax(RetryEntry, of: JobID)
        /// A task whose input can be sent has waited long enough for a node that may have it.
        case send(RetryEntry, of: JobID)
        /// A node that refused may be tried again.
        case resume(NodeID)
    }

    private struct Entry: Comparable {
        var due: Duration
        /// Entries that are due at the same time come in the order of their arrival, so that runs are repeatable.
        var sequence: UInt64
        var purpose: Purpose

        static func < (left: Entry, right: Entry) -> Bool {
            (left.due, left.sequence) < (right.due, right.sequence)
        }

        static func == (left: Entry, right: Entry) -> Bool {
            (left.due, left.sequence) == (right.due, right.sequence)
        }
    }

    private var heap = Heap<Entry>()
    private var sequence: UInt64 = 0

    /// When the first entry is due.
    var next: Duration? { heap.min?.due }

    /// What the first entry is for.
    var nextPurpose: Purpose? { heap.min?.purpose }

    mutating func add(_ purpose: Purpose, due: Duration) {
        sequence &+= 1
        heap.insert(Entry(due: due, sequence: sequence, purpose: purpose))
    }

    /// Takes the first entry if it is due.
    mutating func popDue(now: Duration) -> Purpose? {
        guard let first = heap.min, first.due <= now else { return nil }
        return heap.popMin()?.purpose
    }

    mutating func dropFirst() {
        _ = heap.popMin()
    }
}
