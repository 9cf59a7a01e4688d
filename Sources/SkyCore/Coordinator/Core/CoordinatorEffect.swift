import Transport

/// An effect of a coordinator outside its actor, which `CoordinatorEffects` carries out. A call, a write or a look-up is a loop
/// that goes on until there is nothing more of its kind to do.
enum CoordinatorEffect: Sendable {
    /// Calls a node repeatedly.
    case call(NodeCalls.Call)
    /// Stores the entries that wait.
    case write
    /// Looks up earlier results of these tasks, in order and a few at a time, and reports each part as `lookedUp`.
    ///
    /// The plan gives the cache keys. Computing them takes a while where there are many.
    case lookUp(JobID, Range<Int>, any JobPlan)
    /// Wakes the coordinator at the time `at` of its own clock, which comes after the pause `after`.
    case wake(at: Duration, after: Duration)
}
