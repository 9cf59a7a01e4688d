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
        for id in 1...3 as ClosedRange<UInt64> {
            #expect(log.append(.joined(member(id)), time: id, uptime: .zero) == true)
        }
        #expect(log.entries(from: 1)?.map(\.event) == [.joined(member(2)), .joined(member(3))])
        #expect(log.entries(from: 3) == [])
        #expect(log.nextNumber == 3 && log.members.count == 3)
        for round in 0..<UInt64(2 * MembershipLog.limit) {
            #expect(
                log.append(round % 2 == 0 ? .suspect(NodeID(rawValue: 1)) : .back(member(1)), time: 9, uptime: .zero)
                    == true)
        }
        #expect(log.entries(from: 0) == nil, "forgotten")
        #expect(log.entries(from: log.nextNumber - 5)?.count == 5)
        #expect(log.entries(from: log.nextNumber + 1) == nil, "of another run of the node")
    }

    @Test func `a feed that begins again adds no repeated event`() {
        var log = MembershipLog()
        #expect(log.append(.joined(member(1)), time: 0, uptime: .zero) == true)
        #expect(log.append(.joined(member(1)), time: 0, uptime: .zero) == false)
        #expect(log.append(.left(NodeID(rawValue: 1)), time: 0, uptime: .zero) == true)
        #expect(log.append(.lost(NodeID(rawValue: 1)), time: 0, uptime: .zero) == false)
        #expect(log.nextNumber == 2 && log.members.isEmpty)
        #expect(log.append(.joined(member(1)), time: 0, uptime: .zero) == true)
        #expect(log.append(.suspect(NodeID(rawValue: 1)), time: 0, uptime: .zero) == true)
        #expect(log.members.values.first?.state == .suspect)
        #expect(log.append(.draining(NodeID(rawValue: 1), true), time: 0, uptime: .zero) == true)
        #expect(log.members.values.first?.isDraining == true)
    }

    @Test func `a new node learns which were lost before it was there, by its own time`() {
        func id(_ number: UInt64) -> NodeID { NodeID(rawValue: number) }
        var log = MembershipLog()
        _ = log.append(.joined(member(2)), time: 0, uptime: .zero)
        let told = ["n2", "n7", "n8"].map { LostMember(name: $0, since: .seconds(100)) }
        log.learn(told, at: .seconds(5), theirs: .seconds(130))
        #expect(log.lost(at: .seconds(5)).map(\.name) == ["n7", "n8"], "n2 is here")
        #expect(log.lost(at: .seconds(5)).allSatisfy { $0.since == .seconds(-25) })
        log.learn(told, at: .seconds(9), theirs: .seconds(101))
        #expect(log.lost(at: .seconds(9)).count == 2 && log.lost(at: .seconds(9))[0].since == .seconds(-25))
        _ = log.append(.joined(member(7)), time: 0, uptime: .seconds(10))
        _ = log.append(.left(id(7)), time: 0, uptime: .seconds(11))
        log.learn(told, at: .seconds(12), theirs: .seconds(134))
        #expect(log.lost(at: .seconds(12)).map(\.name) == ["n8"], "n7 has said goodbye to this one")
        let many = (0..<MembershipLog.lostLimit + 9).map { LostMember(name: "m\($0)", since: .seconds($0)) }
        log.learn(many, at: .seconds(13), theirs: .seconds(3600))
        #expect(log.lost(at: .seconds(13)).count <= MembershipLog.lostLimit)
    }

    @Test func `a lost node is named until it is back, starts again under its name, or has been away for a day`() {
        func lost(_ events: [MembershipEvent], at uptime: Duration = .seconds(9)) -> [String] {
            var log = MembershipLog()
            for id in 1...3 as ClosedRange<UInt64> { _ = log.append(.joined(member(id)), time: 0, uptime: .zero) }
            for event in events { _ = log.append(event, time: 0, uptime: .seconds(3)) }
            return log.lost(at: uptime).map(\.name)
        }
        func id(_ number: UInt64) -> NodeID { NodeID(rawValue: number) }
        let again = Member(node: id(9), name: "n2", address: nil, since: .zero)
        #expect(lost([.lost(id(2)), .lost(id(1))]) == ["n2", "n1"])
        #expect(lost([.left(id(2)), .lost(id(7)), .suspect(id(1))]).isEmpty, "one said goodbye, one was never here")
        #expect(lost([.lost(id(2)), .back(member(2))]).isEmpty)
        #expect(lost([.lost(id(2)), .joined(again)]).isEmpty, "started again")
        #expect(lost([.lost(id(2)), .joined(again), .left(id(9))]).isEmpty, "started again, and stopped in order")
        #expect(lost([.lost(id(2)), .joined(again), .lost(id(9))]) == ["n2"], "named once")
        #expect(lost([.joined(again), .lost(id(2))]).isEmpty, "the other one of its machine is there")
        #expect(lost([.lost(id(2))], at: .seconds(3) + MembershipLog.lostTime - .seconds(1)) == ["n2"])
        #expect(lost([.lost(id(2))], at: .seconds(3) + MembershipLog.lostTime).isEmpty)
        var log = MembershipLog()
        for number in 0..<UInt64(2 * MembershipLog.lostLimit) {
            _ = log.append(.joined(member(number)), time: 0, uptime: .zero)
            _ = log.append(.lost(id(number)), time: 0, uptime: .zero)
        }
        #expect(log.lost(at: .zero).count == MembershipLog.lostLimit && log.lost(at: .zero).last?.name == "n511")
        #expect(LostMember.words(log.lost(at: .zero)) == "n256, n257, n258 and 253 more were lost")
    }
}
