import Testing
import Transport

@testable import SkyCore

/// The messages to a node keep the words for an incarnation and for a fencing token that versions up to 0.1.0 have.
@Suite struct MessageKeyTests {
    @Test func `the encoding of an incarnation has not changed`() throws {
        struct Earlier: Codable, Equatable {
            var life: CoordinatorIncarnation
            var wanted: Int
        }
        let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 7), generation: 3)
        let bytes = try WireCoder.encode(ReserveRequest(incarnation: incarnation, wanted: 2))
        #expect(try WireCoder.encode(Earlier(life: incarnation, wanted: 2)) == bytes)
        let collect = try WireCoder.encode(
            CollectRequest(incarnation: incarnation, received: 1, acknowledged: 2, fencingToken: 3, isFirst: true))
        let assignment = try WireCoder.encode(Assignment(incarnation: incarnation))
        for bytes in [collect, assignment] {
            struct Part: Codable {
                var life: CoordinatorIncarnation
            }
            #expect(try WireCoder.decode(Part.self, from: bytes).life == incarnation)
        }
    }

    @Test func `the encoding of a fencing token has not changed`() throws {
        struct EarlierLease: Codable {
            var coordinator: CoordinatorID
            var epoch: UInt64
            var slots: Int
        }
        struct EarlierRequest: Codable {
            var life: CoordinatorIncarnation
            var received: UInt64
            var acknowledged: UInt64
            var epoch: UInt64
            var isFirst: Bool
        }
        let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 7), generation: 3)
        let lease = try WireCoder.encode(Lease(coordinator: incarnation.coordinator, fencingToken: 4, slots: 2))
        let earlierLease = EarlierLease(coordinator: incarnation.coordinator, epoch: 4, slots: 2)
        #expect(try WireCoder.encode(earlierLease) == lease)
        let request = try WireCoder.encode(
            CollectRequest(incarnation: incarnation, received: 1, acknowledged: 2, fencingToken: 3, isFirst: true))
        let earlierRequest = EarlierRequest(life: incarnation, received: 1, acknowledged: 2, epoch: 3, isFirst: true)
        #expect(try WireCoder.encode(earlierRequest) == request)
    }
}
