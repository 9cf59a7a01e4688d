import DequeModule

/// The tasks of a job that were never tried, as ranges in order, so that a million tasks take no more room than one.
struct FreshTasks {
    private var ranges: Deque<Range<Int>> = []
    private(set) var count = 0

    /// Adds tasks behind all others.
    mutating func append(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        count += range.count
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    mutating func popFirst() -> Int? {
        guard let first = ranges.first else { return nil }
        count -= 1
        if first.count == 1 {
            ranges.removeFirst()
        } else {
            ranges[0] = (first.lowerBound + 1)..<first.upperBound
        }
        return first.lowerBound
    }

    /// The first task that meets the condition, among the first `limit` tasks.
    func first(among limit: Int, where condition: (Int) -> Bool) -> Int? {
        var left = limit
        for range in ranges {
            for task in range {
                if left == 0 { return nil }
                left -= 1
                if condition(task) { return task }
            }
        }
        return nil
    }

    func contains(_ task: Int) -> Bool { place(of: task) != nil }

    /// Takes a task out of turn. Returns `false` if it is not among them.
    mutating func remove(_ task: Int) -> Bool {
        guard let place = place(of: task) else { return false }
        let range = ranges[place]
        count -= 1
        let parts = [range.lowerBound..<task, (task + 1)..<range.upperBound].filter { !$0.isEmpty }
        ranges.replaceSubrange(place...place, with: parts)
        return true
    }

    private func place(of task: Int) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= task { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(task) ? low : nil
    }
}
