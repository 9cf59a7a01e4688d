import Testing
import Transport

@testable import SkyCore

@Suite struct MembershipLogTests {
    private func member(_ id: UInt64) -> Member {
        Member(node: NodeID(rawValue: id), name: "n\(id)", address: nil, since: .zero)
    }

    @Test func `a watcher gets later events, and starts again when it is too far behind`() {
        var log = MembershipLog()
        #expect(log.entries(from: 0) == [] && log.entries(from: 1) == nil)
        for id in 1...3 as ClosedRange<UInt64> { #expect(log.append(.joined(member(id)), time: id) == true) }
        #expect(log.entries(from: 1)?.map(\.event) == [.joined(member(2)), .joined(member(3))])
        #expect(log.entries(from: 3) == [])
        #expect(log.nextNumber == 3 && log.members.count == 3)
        for round in 0..<UInt64(2 * MembershipLog.limit) {
            #expect(log.append(round % 2 == 0 ? .suspect(NodeID(rawValue: 1)) : .back(member(1)), time: 9) == true)
        }
        #expect(log.entries(from: 0) == nil, "forgotten")
        #expect(log.entries(from: log.nextNumber - 5)?.count == 5)
        #expect(log.entries(from: log.nextNumber + 1) == nil, "of another run of the node")
    }

    @Test func `a feed that begins again adds no repeated event`() {
        var log = MembershipLog()
        #expect(log.append(.joined(member(1)), time: 0) == true)
        #expect(log.append(.joined(member(1)), time: 0) == false)
        #expect(log.append(.left(NodeID(rawValue: 1)), time: 0) == true)
        #expect(log.append(.lost(NodeID(rawValue: 1)), time: 0) == false)
        #expect(log.nextNumber == 2 && log.members.isEmpty)
        #expect(log.append(.joined(member(1)), time: 0) == true)
        #expect(log.append(.suspect(NodeID(rawValue: 1)), time: 0) == true)
        #expect(log.members.values.first?.state == .suspect)
        #expect(log.append(.draining(NodeID(rawValue: 1), true), time: 0) == true)
        #expect(log.members.values.first?.isDraining == true)
    }
}
