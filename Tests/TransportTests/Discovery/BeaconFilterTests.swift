import Testing

@testable import Transport

@Suite struct BeaconFilterTests {
    private let now: UInt64 = 1_800_000_000_000

    @Test func `a beacon counts once, and later ones of the same node after it`() {
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        #expect(filter.fault(.sample(sequence: 5, sent: now), now: now) == nil)
        #expect(filter.fault(.sample(sequence: 5, sent: now), now: now + 1) == .replayed)
        #expect(filter.fault(.sample(sequence: 4, sent: now), now: now + 1) == .replayed)
        #expect(filter.fault(.sample(sequence: 6, sent: now), now: now + 1) == nil)
        #expect(filter.fault(.sample(node: 9, sequence: 1, sent: now), now: now) == nil, "another node")
        #expect(filter.fault(.sample(node: 1, sequence: 9, sent: now), now: now) == .own)
    }

    @Test func `a beacon that is too old or too new is ignored, and has no later effect`() {
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        #expect(filter.fault(.sample(sequence: 9, sent: now - 30_001), now: now) == .stale(milliseconds: 30_001))
        #expect(filter.fault(.sample(sequence: 9, sent: now + 30_001), now: now) == .stale(milliseconds: -30_001))
        #expect(filter.fault(.sample(sequence: 1, sent: now - 30_000), now: now) == nil)
        #expect(filter.fault(.sample(sequence: 2, sent: now + 30_000), now: now) == nil)
        for extreme: UInt64 in [0, .max, 1 << 63] {
            let fault = filter.fault(.sample(sequence: 9, sent: extreme), now: now)
            #expect(fault?.label == "stale", "\(extreme)")
        }
    }

    @Test func `a recorded beacon is refused later, even when its node is forgotten`() {
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        let recorded = Beacon.sample(sequence: 5, sent: now)
        #expect(filter.fault(recorded, now: now) == nil)
        var clock = now
        // The filter is filled with other nodes again and again.
        for round in 0..<3 {
            clock += 31_000
            for node in 0..<UInt64(BeaconFilter.nodeLimit) {
                let id = 100_000 + UInt64(round) * 10_000 + node
                #expect(filter.fault(.sample(node: id, sent: clock), now: clock) == nil)
            }
            #expect(filter.fault(.sample(node: 77, sent: clock), now: clock) == .crowded)
            #expect(filter.fault(recorded, now: clock)?.label == "stale")
        }
    }

    @Test func `random beacons are never let in twice`() {
        var generator = SeededGenerator(seed: 11)
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        var clock = now
        var accepted: Set<[UInt64]> = []
        for _ in 0..<100_000 {
            clock += .random(in: 0...20, using: &generator)
            let beacon = Beacon.sample(
                node: .random(in: 1...40, using: &generator), sequence: .random(in: 1...5000, using: &generator),
                sent: clock - 40_000 + .random(in: 0...80_000, using: &generator))
            guard filter.fault(beacon, now: clock) == nil else { continue }
            #expect(accepted.insert([beacon.node.rawValue, beacon.sequence]).inserted)
            #expect(beacon.node.rawValue != 1)
        }
        #expect(accepted.count > 100)
    }
}
