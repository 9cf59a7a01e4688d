/// When a node that has nothing to do gives back what it holds for the next task: once, some time after the last.
struct RestPlan {
    /// What shows whether anything has been done.
    struct Activity: Equatable {
        /// Whether tasks run, or jobs go on, so that the next task may come at any time.
        var isBusy = false
        var attempts = AttemptCounts()
        var tasks = TaskCounts()
        /// Results that were asked for.
        var fetches = 0
    }

    /// Longer than between two scans of somebody who looks at the first.
    static let delay = Duration.seconds(60)

    private var last = Activity()
    /// A start needs more than what follows, too.
    private var changedAt: Duration?
    private var isResting = false

    /// Time until the next look. A node that rests wakes up for it, so it does not look often.
    var pause: Duration { isResting ? RestPlan.delay : RestPlan.delay / 4 }

    /// Whether it is to be done now.
    mutating func isDue(_ activity: Activity, now: Duration) -> Bool {
        if activity != last || activity.isBusy {
            (last, changedAt, isResting) = (activity, now, false)
        }
        let since = changedAt ?? now
        changedAt = since
        guard !isResting, now - since >= RestPlan.delay else { return false }
        isResting = true
        return true
    }
}
