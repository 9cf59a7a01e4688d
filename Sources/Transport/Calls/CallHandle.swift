/// What cancels a call of a peer that runs here.
enum CallHandle: Sendable {
    /// The call has a task to itself.
    case own(Task<Void, Never>)
    /// The call runs now in the task of a batch, and so is the only one that the task's cancellation reaches.
    case shared(BatchTask)

    /// Returns the task that is to be cancelled outside of the lock. Where there is none, this cancels the call; it is called under
    /// the lock.
    ///
    /// Cancelling under a lock is safe for the task of a batch: what it runs does not suspend, so it has no child tasks and no
    /// handlers of cancellation that could be called.
    func ownTask() -> Task<Void, Never>? {
        switch self {
        case .own(let task): return task
        case .shared(let shared):
            shared.task.cancel()
            return nil
        }
    }
}

/// The task in which calls of a batch run one after the other.
///
/// It is unchecked, because nothing keeps a current task for those who know it. The task takes this handle out of the calls that
/// run, under their lock, before it leaves the scope in which the handle is good; and others use the handle under that lock only.
///
/// It is a class, because the layout of a current task is not known when this is compiled: each copy of one, in a table of calls, is
/// a call of the runtime.
final class BatchTask: @unchecked Sendable {
    fileprivate let task: UnsafeCurrentTask

    init(_ task: UnsafeCurrentTask) {
        self.task = task
    }

    /// Whether a call that ran in the task was cancelled.
    var isCancelled: Bool { task.isCancelled }
}
