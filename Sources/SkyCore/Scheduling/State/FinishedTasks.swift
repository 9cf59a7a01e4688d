/// Tasks of a job that are done, as ranges that are in order and do not touch.
package struct FinishedTasks: Hashable, Sendable {
    package private(set) var ranges: [Range<Int>] = []
    package private(set) var count = 0

    package init() {}

    /// Makes the ranges from the numbers of tasks, in order. A number that comes twice counts once.
    package init(sorted tasks: some Sequence<Int>) {
        for task in tasks {
            if let last = ranges.last, task < last.upperBound { continue }
            count += 1
            if let last = ranges.last, last.upperBound == task {
                ranges[ranges.count - 1] = last.lowerBound..<(task + 1)
            } else {
                ranges.append(task..<(task + 1))
            }
        }
    }

    /// The parts of `0..<total` that are in neither of the two.
    static func missing(of total: Int, in left: FinishedTasks, _ right: FinishedTasks) -> [Range<Int>] {
        var missing: [Range<Int>] = []
        var next = 0
        for range in (left.ranges + right.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if next < min(range.lowerBound, total) { missing.append(next..<min(range.lowerBound, total)) }
            next = max(next, range.upperBound)
        }
        if next < total { missing.append(next..<total) }
        return missing
    }
}
