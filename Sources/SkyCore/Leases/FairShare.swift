/// Divides slots among the coordinators that want them, so that the least served is served best (max-min fairness).
///
/// A coordinator that wants less than an equal part gets all that it wants, and the others share the rest equally. If the
/// slots do not divide evenly, the first of the others get one more each. A coordinator that works for several people gets a part
/// for each of them.
struct FairShare {
    /// The share of each coordinator, in the order of the demands. The shares add up to the smaller of two numbers: the
    /// slots, and the sum of all demands.
    private(set) var shares: [Int]
    /// Positions whose share is more than the equal parts of those that also want more.
    private(set) var favoured: Set<Int> = []

    /// - Parameters:
    ///   - slots: how many slots there are to give.
    ///   - demands: how many slots each coordinator wants, the first in line first; a negative demand counts as 0. The demands are at
    ///     most `LeaseBook.slotLimit` where somebody works for several people.
    ///   - people: for how many people each coordinator works, at least 1; `nil` where each works for one.
    init(of slots: Int, among demands: [Int], for people: [Int]? = nil) {
        shares = [Int](repeating: 0, count: demands.count)
        let people = people ?? [Int](repeating: 1, count: demands.count)
        var left = max(0, slots)
        var parts = people.reduce(0, +)
        // Small demands are served first: what they leave raises the equal part of those who want more.
        let modestFirst = demands.indices.sorted {
            (demands[$0] * people[$1], $0) < (demands[$1] * people[$0], $1)
        }
        for (served, index) in modestFirst.enumerated() {
            let equalPart = left / parts
            if demands[index] > equalPart * people[index] {
                // From here on, nobody can have all that it wants.
                var odd = left % parts
                for index in modestFirst[served...].sorted() {
                    let share = equalPart * people[index]
                    let more = min(odd, people[index], demands[index] - share)
                    if more > 0 { favoured.insert(index) }
                    shares[index] = share + more
                    odd -= more
                }
                return
            }
            shares[index] = max(0, demands[index])
            left -= shares[index]
            parts -= people[index]
        }
    }
}
