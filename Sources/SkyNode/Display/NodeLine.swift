import Base
import SkyCore
import Transport

/// One node as a program reads it. Values that the node did not send in time are missing.
struct NodeLine: Encodable {
    var name: String
    var id: String
    var address: String?
    var version: String
    /// What its results depend on.
    var arithmetic: String?
    var slots: Int?
    var running: Int?
    var completed: Int?
    var failed: Int?
    var load: Double?
    var speed: Double?
    /// alive, suspect or draining.
    var state: String
    /// How long it has been a member, or has run where it is the one that was asked.
    var ageSeconds: Double
    var uptimeSeconds: Double?
    var roundTripMilliseconds: Double?
    /// How far its clock is ahead.
    var clockOffsetSeconds: Double?
    /// beacon, join, introduction or incoming; self for the one that was asked.
    var found: String

    init(_ report: NodeReport) {
        let member = report.member
        name = PrintableText.of(member.name)
        id = member.node.description
        address = member.address.map { PrintableText.of($0.description) }
        version = PrintableText.of(report.status?.version ?? member.version)
        arithmetic = member.arithmetic.map { PrintableText.of($0) }
        slots = report.status?.slots
        running = report.status?.running
        completed = report.status?.completed
        failed = report.status?.failed
        load = report.status?.load?.ifFinite
        speed = report.speed?.ifFinite
        state = NodeLine.state(member)
        ageSeconds = report.age.inSeconds
        uptimeSeconds = report.status?.uptime.inSeconds
        roundTripMilliseconds = report.roundTrip.map { $0.inSeconds * 1000 }
        clockOffsetSeconds = report.clockOffset?.inSeconds
        found = report.isAnswering ? "self" : member.found.rawValue
    }

    static let states = ["alive", "suspect", "draining"]

    static func state(_ member: Member) -> String {
        member.state == .alive && member.isDraining ? "draining" : member.state.rawValue
    }
}

extension Double {
    /// JSON has neither infinity nor "not a number" (RFC 8259, section 6); another node may send either.
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}
