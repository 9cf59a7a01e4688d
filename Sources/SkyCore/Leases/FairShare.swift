/// Divides slots among the coordinators that want them, so that the least served is served best (max-min fairness).
///
/// A coordinator that wants less than an equal part gets all that it wants, and the others share the rest equally. If the
/// slots do not divide evenly, the first of the others get one more each.
struct FairShare {
    /// The share of each coordinator, in the order of the demands. The shares add up to the smaller of two numbers: the
    /// slots, and the sum of all demands.
    private(set) var shares: [Int]
    /// Positions whose share is one more than the share of the others that also want more.
    private(set) var favoured: Set<Int> = []

    /// - Parameters:
    ///   - slots: how many slots there are to give.
    ///   - demands: how many slots each coordinator wants, the first in line first; a negative demand counts as 0.
    init(of slots: Int, among demands: [Int]) {
        shares = [Int](repeating: 0, count: demands.count)
        var left = max(0, slots)
        // Small demands are served first: what they leave raises the equal part of those who want more.
        let modestFirst = demands.indices.sorted { (demands[$0], $0) < (demands[$1], $1) }
        for (served, index) in modestFirst.enumerated() {
            let others = demands.count - served
            let equalPart = left / others
            if demands[index] > equalPart {
                // From here on, nobody can have all that it wants.
                let unsatisfied = modestFirst[served...].sorted()
                favoured = Set(unsatisfied.prefix(left % others))
                for index in unsatisfied { shares[index] = equalPart + (favoured.contains(index) ? 1 : 0) }
                return
            }
            shares[index] = max(0, demands[index])
            left -= shares[index]
        }
    }
}
