import DequeModule
import Dispatch
import Glibc
import NIOCore
import Synchronization

/// Runs tasks on an event loop, between its reads and writes, as long as there is little to do, and else on the threads that all tasks
/// have.
///
/// A call whose actor works on the loop that has read it, and that writes its answer, changes threads for neither. A change of threads
/// takes as long as a brief method, and several times as long where it wakes a core that has gone to sleep. But where there is much to
/// do, no core sleeps, and two threads do more than one.
///
/// Only for what is brief and never waits for a disk, because all links of the loop wait for it. A task that may go on and on has to
/// `pause`.
package final class LoopExecutor: TaskExecutor {
    private struct State {
        var jobs: Deque<UnownedJob> = []
        /// Whether the loop is about to take jobs, or takes them now.
        var isAtWork = false
        /// Until when the loop is left to its links.
        var busyUntil = NIODeadline.uptimeNanoseconds(0)
    }

    private let loop: any EventLoop
    private let state = BriefLock(State())
    /// When the current turn has taken its time, and when the loop worked last, on the clock of `NIODeadline`; and the processor time of
    /// the loop's thread when the turn began. Only the loop uses these.
    private let turnEnd = Atomic<UInt64>(0)
    private let lastWorked = Atomic<UInt64>(0)
    private let processorTimeBefore = Atomic<UInt64>(0)

    /// How long the loop works before the rest goes to other threads.
    private static let turn: UInt64 = 3_000_000
    /// What comes within so many nanoseconds belongs to the same turn: a loop goes on with its tasks as long as there are any, and only
    /// then reads and writes.
    private static let gap: UInt64 = 20_000
    /// How long other threads work before the loop tries again.
    private static let busyTime = TimeAmount.milliseconds(100)

    /// - Parameter group: the group of the loop.
    /// - Returns: `nil` where the group has several loops. An actor that is called over the links of several loops would work on one of
    ///   them, and as long as the others bring it work, it would not let that one read and write.
    init?(_ group: any EventLoopGroup) {
        var loops = group.makeIterator()
        guard let loop = loops.next(), loops.next() == nil else { return nil }
        self.loop = loop
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isBusy, begins) = state.withLockedValue { state in
            if state.busyUntil > .uptimeNanoseconds(0) {
                guard NIODeadline.now() >= state.busyUntil else { return (true, false) }
                state.busyUntil = .uptimeNanoseconds(0)
            }
            state.jobs.append(job)
            defer { state.isAtWork = true }
            return (false, !state.isAtWork)
        }
        if isBusy { runElsewhere(job) }
        if begins { loop.execute { self.work() } }
    }

    private func runElsewhere(_ job: UnownedJob) {
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Does the jobs of one turn, on the loop.
    private func work() {
        var now = NIODeadline.now().uptimeNanoseconds
        if now > lastWorked.load(ordering: .relaxed) + LoopExecutor.gap {
            turnEnd.store(now + LoopExecutor.turn, ordering: .relaxed)
            processorTimeBefore.store(LoopExecutor.processorTime, ordering: .relaxed)
        }
        defer { lastWorked.store(now, ordering: .relaxed) }
        while let job = next() {
            job.runSynchronously(on: asUnownedTaskExecutor())
            now = NIODeadline.now().uptimeNanoseconds
            if isTurnOver(now) { return leave() }
        }
    }

    private func isTurnOver(_ now: UInt64) -> Bool {
        guard now >= turnEnd.load(ordering: .relaxed) else { return false }
        // Another process may have had the core. That is no work of this one.
        let worked = LoopExecutor.processorTime - processorTimeBefore.load(ordering: .relaxed)
        if worked < LoopExecutor.turn / 2 { turnEnd.store(now + LoopExecutor.turn, ordering: .relaxed) }
        return worked >= LoopExecutor.turn / 2
    }

    /// Nanoseconds that the current thread has had of the processors.
    private static var processorTime: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private func next() -> UnownedJob? {
        state.withLockedValue { state in
            let job = state.jobs.popFirst()
            if job == nil { state.isAtWork = false }
            return job
        }
    }

    /// Gives what is to be done to other threads for a while.
    private func leave() {
        let jobs = state.withLockedValue { state in
            state.busyUntil = .now() + LoopExecutor.busyTime
            state.isAtWork = false
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { runElsewhere(job) }
    }

    /// Leaves the loop if the current turn has taken its time. For a task that may go on for long without waiting for anything.
    package func pause() async {
        guard loop.inEventLoop, isTurnOver(NIODeadline.now().uptimeNanoseconds) else { return }
        state.withLockedValue { $0.busyUntil = .now() + LoopExecutor.busyTime }
        // The task goes on where it is put now.
        await withUnsafeContinuation { $0.resume() }
    }
}
