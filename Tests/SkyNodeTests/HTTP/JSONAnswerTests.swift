import HummingbirdCore
import Testing
import Transport

@testable import SkyCore
@testable import SkyNode

/// What is written as JSON, also of nodes that send nonsense.
struct JSONAnswerTests {
    @Test func `a value that JSON cannot express is an error, and no empty answer`() throws {
        struct Odd: Encodable { var load = Double.nan }
        let response = Response.json(Odd())
        #expect(response.status == .internalServerError)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `absurd numbers from another node are left out`(number: Double) throws {
        let member = Member(node: NodeID(rawValue: 1), name: "odd", address: nil, since: .zero)
        let status = NodeStatus(
            node: member.node, name: "odd", version: "", slots: 1, running: 0, completed: 0, failed: 0, uptime: .zero,
            load: number)
        let report = NodeReport(
            member: member, status: status, isAnswering: false, age: .zero, roundTrip: nil, clockOffset: nil,
            speed: number)
        let text = try JSONLine.encode(NodeLine(report))
        #expect(text.contains(#""name":"odd""#) && !text.contains("load") && !text.contains("speed"))
    }
}
