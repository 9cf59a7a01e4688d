/// When a node that has nothing to do trims, that is, gives back what it holds for the next task: once, some time after the
/// last task.
struct TrimPlan {
    /// The values that show whether the node has done anything.
    struct Activity: Equatable {
        /// Whether tasks run, or jobs go on that have a node, so that the next task may come at any time.
        var isBusy = false
        var attempts = AttemptCounts()
        var tasks = TaskCounts()
        /// How many jobs there are. Where they are deleted, what they took is free.
        var jobs = 0
        /// How often results were fetched.
        var fetches = 0
    }

    /// Longer than the time between two scans of a person who looks at the result of the first.
    static let delay = Duration.seconds(60)

    private var last = Activity()
    /// When the activity last changed. It is set at the start, too, because a start needs more memory than what follows.
    private var changedAt: Duration?
    private var hasTrimmed = false

    /// The time until the next look. A node that has trimmed wakes up for the look, so it does not look often.
    var pause: Duration { hasTrimmed ? TrimPlan.delay : TrimPlan.delay / 4 }

    /// Whether the node should trim now.
    mutating func isDue(_ activity: Activity, now: Duration) -> Bool {
        if activity != last || activity.isBusy {
            (last, changedAt, hasTrimmed) = (activity, now, false)
        }
        let since = changedAt ?? now
        changedAt = since
        guard !hasTrimmed, now - since >= TrimPlan.delay else { return false }
        hasTrimmed = true
        return true
    }
}
