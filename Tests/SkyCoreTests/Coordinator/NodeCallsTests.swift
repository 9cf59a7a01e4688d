import Testing
import Transport

@testable import SkyCore

@Suite struct NodeCallsTests {
    private let node = NodeID(rawValue: 2)
    private let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1)

    private func lease(_ slots: Int, fencingToken: UInt64) -> Lease {
        Lease(coordinator: incarnation.coordinator, fencingToken: fencingToken, slots: slots)
    }

    private func reserved(_ calls: inout NodeCalls, _ lease: Lease) -> Bool { calls.reserved(lease, on: node) }

    private func next(_ calls: inout NodeCalls) -> ReserveRequest? { calls.nextReservation(for: node) }

    /// Found where a job's second phase came in the moment after its first: all slots were free, and it waited for ever.
    @Test(arguments: [2, 3]) func `slots that are given up and demanded again before the node is asked count again`(
        again: Int
    ) {
        var calls = NodeCalls(incarnation: incarnation)
        _ = calls.reserve(2, on: node)
        #expect(next(&calls)?.wanted == 2)
        #expect(reserved(&calls, lease(2, fencingToken: 7)))
        #expect(next(&calls) == nil)
        _ = calls.reserve(0, on: node)
        _ = calls.reserve(again, on: node)
        #expect(next(&calls)?.wanted == again, "the node is asked again")
        #expect(reserved(&calls, lease(2, fencingToken: 7)), "and its old answer counts as new")
        #expect(next(&calls) == nil)
    }

    @Test func `an answer to an outdated demand counts only with a new fencing token`() {
        var calls = NodeCalls(incarnation: incarnation)
        _ = calls.reserve(2, on: node)
        _ = calls.nextReservation(for: node)
        #expect(reserved(&calls, lease(2, fencingToken: 7)))
        _ = calls.reserve(4, on: node)
        _ = calls.nextReservation(for: node)
        _ = calls.reserve(1, on: node)
        #expect(!reserved(&calls, lease(2, fencingToken: 7)), "one of these has been given up")
        #expect(next(&calls)?.wanted == 1)
        #expect(reserved(&calls, lease(1, fencingToken: 8)))
    }
}
