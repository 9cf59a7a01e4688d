import DequeModule

/// So many at a time, in the order of their coming.
struct Permits {
    private var free: Int
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    init(_ count: Int) {
        free = count
    }

    /// Takes one where one is free.
    mutating func take() -> Bool {
        guard free > 0 else { return false }
        free -= 1
        return true
    }

    mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// Gives one back, to who has waited longest.
    mutating func giveBack() {
        if let next = waiting.popFirst() { next.resume() } else { free += 1 }
    }
}
