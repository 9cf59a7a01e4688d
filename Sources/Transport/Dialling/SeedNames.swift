/// Which addresses the names of seeds stand for, as a value. Names are looked up again and again: machines get other
/// addresses, and one name may stand for all seeds.
package struct SeedNames {
    /// The time from one lookup to the next.
    package static let pause = Duration.seconds(30)

    private var addresses: [NodeAddress: [NodeAddress]] = [:]
    private var backOffs: [NodeAddress: BackOff] = [:]

    package init() {}

    /// Notes what a name stands for after a lookup.
    ///
    /// - Returns: the addresses that it did not stand for before, and those that no name stands for any more.
    package mutating func found(
        _ found: [NodeAddress], of name: NodeAddress
    ) -> (new: [NodeAddress], gone: [NodeAddress]) {
        backOffs[name] = nil
        // A name that has no address for a while does not take its seeds with it.
        if found.isEmpty { return ([], []) }
        let known = Set(addresses.values.joined())
        let old = addresses.updateValue(found, forKey: name) ?? []
        let left = Set(addresses.values.joined())
        return (found.filter { !known.contains($0) }, old.filter { !left.contains($0) })
    }

    /// Notes that a name could not be looked up.
    ///
    /// - Returns: the time until the next attempt.
    package mutating func failed(_ name: NodeAddress, using generator: inout some RandomNumberGenerator) -> Duration {
        backOffs[name, default: BackOff()].next(longest: BackOff.patient, using: &generator)
    }
}
