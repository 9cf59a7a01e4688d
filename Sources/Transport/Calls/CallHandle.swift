/// What cancels a call of a peer that runs here.
///
/// It is unchecked because of `shared`: nothing keeps a current task for those who know it. The task of a batch takes its own handle
/// out of the calls that run, under their lock, before it leaves the scope in which the handle is good; and others use the handle
/// under that lock only.
enum CallHandle: @unchecked Sendable {
    /// The call has a task to itself.
    case own(Task<Void, Never>)
    /// The call runs now in the task of a batch, and so is the only one that the task's cancellation reaches.
    case shared(UnsafeCurrentTask)

    /// Returns the task that is to be cancelled outside of the lock. Where there is none, this cancels the call; it is called under
    /// the lock.
    ///
    /// Cancelling under a lock is safe for the task of a batch: what it runs does not suspend, so it has no child tasks and no
    /// handlers of cancellation that could be called.
    func ownTask() -> Task<Void, Never>? {
        switch self {
        case .own(let task): return task
        case .shared(let task):
            task.cancel()
            return nil
        }
    }
}
