/// Whether the short frames that wait on a link are written now, or wait for others that are about to come. A write, and the wake-up
/// of either event loop, takes longer than ten small calls.
///
/// Calls wait for callers that have been given their answers together with the one that calls now: most of them call again at once.
/// All short frames wait while a batch of calls runs that are known to be brief: at most for the batch, and if one of its calls is not
/// brief this time, until a control frame or 32 short ones leave. A thread that is free ends the wait for callers; where long work
/// fills all threads, calls wait for it.
struct Cork: Sendable {
    /// So many frames leave in any case. More of them would make a write hardly any cheaper for each.
    static let enough = 32

    /// Callers that have been given an answer and have not called since.
    private var returning = 0
    /// Callers that have ever been given an answer.
    private var resumed: UInt64 = 0
    /// Batches of brief calls that run.
    private var batches = 0
    /// Whether what waits now leaves with the next write.
    private var isReleased = false
    /// Whether somebody calls `turnsAreOver` some time.
    private var isWatched = false

    /// So many callers are given their answers.
    mutating func resume(_ callers: Int) {
        returning += callers
        resumed &+= UInt64(callers)
    }

    /// Somebody has made a call.
    mutating func called() {
        if returning > 0 { returning -= 1 }
    }

    /// A batch of brief calls begins.
    mutating func beginBatch() { batches += 1 }

    /// - Parameter waiting: how many frames wait.
    mutating func endBatch(waiting: Int) {
        batches -= 1
        isReleased = waiting > 0
    }

    /// Whether the frames that wait are to wait longer.
    ///
    /// - Parameters:
    ///   - waiting: how many wait.
    ///   - open: calls that have been made and not been answered, whether they wait or have left.
    func holds(_ waiting: Int, open: Int) -> Bool {
        guard !isReleased, (1..<Cork.enough).contains(waiting) else { return false }
        if batches > 0 { return true }
        // With half of all callers' calls the other side has work, while the other half comes together.
        return returning > 0 && 2 * waiting < open + returning
    }

    /// Returns a mark for `turnsAreOver`, to be called when the callers that have been resumed by now have had their turn; `nil`
    /// where that has been asked for already, or where no callers are waited for.
    mutating func watch() -> UInt64? {
        guard returning > 0, !isWatched else { return nil }
        isWatched = true
        return resumed
    }

    /// Whoever was resumed up to `mark` has had a turn: those that have not called will not.
    ///
    /// - Parameter waiting: how many frames wait.
    mutating func turnsAreOver(upTo mark: UInt64, waiting: Int) {
        isWatched = false
        isReleased = waiting > 0
        returning = min(returning, Int(clamping: resumed &- mark))
    }

    /// Nothing waits any more.
    mutating func written() { isReleased = false }
}
