import DequeModule

/// Lets a fixed number in at a time, in the order in which they came.
struct Permits {
    private var free: Int
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    init(_ count: Int) {
        free = count
    }

    /// Takes a permit, if one is free.
    mutating func take() -> Bool {
        guard free > 0 else { return false }
        free -= 1
        return true
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives a permit back. The one that has waited longest gets it.
    mutating func giveBack() {
        if let next = waiting.popFirst() { next.resume() } else { free += 1 }
    }
}
