import Base
import NIOCore

/// What the tasks of a job depend on: the results that its plan had when it issued them, as a digest.
///
/// A plan's next tasks are sent out before the results that they follow from are stored. Where those are lost with the coordinator,
/// they are made again, and need not be the same: the image may be another one by then. What nodes still have of the tasks that
/// followed from the lost ones then answers questions that nobody asks any more. So the proof that a task was sent to a node says
/// what it was based on (`AttemptReceipts`).
struct TaskBasis {
    /// The digest of the results so far. It does not depend on their order, because a journal has them in the order of tasks.
    private var digest: UInt64 = 0
    /// The plan's steps that issued tasks: the first task, and what was known by then.
    private var steps: [(first: Int, digest: UInt64)] = []

    /// The plan has taken a result.
    ///
    /// - Parameter payload: the result as it is stored.
    mutating func complete(_ task: Int, _ payload: ByteBuffer) { add(task, payload.contentDigest) }

    /// The plan has taken note that a task has failed for good.
    mutating func fail(_ task: Int) { add(task, 0) }

    private mutating func add(_ task: Int, _ content: UInt64) {
        var mixer = SplitMix64(seed: content)
        mixer = SplitMix64(seed: mixer.next() ^ UInt64(task))
        digest &+= mixer.next()
    }

    /// The plan has issued tasks, from this one on.
    mutating func issue(from first: Int) { steps.append((first, digest)) }

    /// What a task is based on; `nil` for one that was not issued.
    subscript(_ task: Int) -> UInt64? { steps.last { $0.first <= task }?.digest }
}
