import Testing

@testable import Transport

@Suite struct IntroductionTests {
    private let members = (1...100).map { id in
        Member(
            node: NodeID(rawValue: id), name: "n\(id)", address: .hostPort(host: "10.0.0.\(id)", port: 7420),
            since: .zero)
    }

    @Test func `without multicast a newcomer is introduced to everybody but itself`() {
        let newcomer = NodeID(rawValue: 7)
        let published = Introduction.choose(members, heard: [], for: newcomer).map(\.node)
        #expect(Set(published) == Set(members.map(\.node)).subtracting([newcomer]))
    }

    @Test func `only a few of the beaconing nodes are introduced, each time others`() {
        let heard = Set(members.dropFirst(3).map(\.node))
        var published: Set<NodeID> = []
        for _ in 0..<100 {
            let some = Introduction.choose(members, heard: heard, for: NodeID(rawValue: 1)).map(\.node)
            #expect(some.count == 2 + Introduction.beaconLimit)
            published.formUnion(some)
        }
        // Each of 97 is missed by all hundred with a chance of (89/97)^100, or 2e-4.
        #expect(published.count >= 95)
    }

    @Test func `an address that is only valid locally is not passed on`() {
        let member = Member(
            node: NodeID(rawValue: 1), name: "a", address: .hostPort(host: "fe80::1%eth0", port: 7420), since: .zero)
        #expect(Introduction.choose([member], heard: [], for: NodeID(rawValue: 2)).isEmpty)
    }
}
