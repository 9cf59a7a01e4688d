import Transport

/// What a coordinator wants done outside itself: `CoordinatorEffects` does it. Each is a loop that goes on until there is nothing
/// more to do of its kind.
enum CoordinatorEffect: Sendable {
    /// Calls a node, again and again.
    case call(NodeCalls.Call)
    /// Stores what is to be stored.
    case write
    /// Looks for earlier results of these tasks, in order and a few at a time, and says each time what was `lookedUp`.
    ///
    /// The plan says what they are looked for by: to find out takes a while where there are many.
    case lookUp(JobID, Range<Int>, any JobPlan)
    /// Wakes the coordinator at a time of its own clock, which is so long from now.
    case wake(at: Duration, after: Duration)
}
