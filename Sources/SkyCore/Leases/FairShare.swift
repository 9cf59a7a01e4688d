/// Divides slots among those who want them so that the least served is served best (max-min fairness).
///
/// Whoever wants less than an equal part gets all it wants; the others share the rest equally. Slots that do not
/// divide evenly go, one each, to the first of the others.
struct FairShare {
    /// What is due to each, in the order of the demands. They add up to the smaller of the slots and what is wanted.
    private(set) var shares: [Int]
    /// Positions whose share is one more than what others who also want more get.
    private(set) var favoured: Set<Int> = []

    /// - Parameters:
    ///   - slots: what there is to give.
    ///   - demands: what each wants, the first in line first; negative counts as nothing.
    init(of slots: Int, among demands: [Int]) {
        shares = [Int](repeating: 0, count: demands.count)
        var left = max(0, slots)
        // The modest first: what they leave raises the equal part of those who want more.
        let modestFirst = demands.indices.sorted { (demands[$0], $0) < (demands[$1], $1) }
        for (served, index) in modestFirst.enumerated() {
            let others = demands.count - served
            let equalPart = left / others
            if demands[index] > equalPart {
                // Nobody from here on can have all it wants.
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
