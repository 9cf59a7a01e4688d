import Base
import Foundation
import SkyCore
import Transport

/// One change of the membership, for a program or for a person.
struct MembershipLine: Encodable {
    /// When it happened, by the clock of the node that was asked: ISO 8601 with milliseconds, in UTC.
    var time: String
    /// present (at the start), joined, suspect, back, lost, left, draining or resumed.
    var event: String
    var name: String
    var id: String
    var address: String?
    var version: String
    var found: String
    /// Since when it has been a member, in the same form.
    var since: String

    /// - Parameter page: says what time it is on the node that was asked, and how long that node has run.
    init(_ event: String, _ member: Member, at milliseconds: UInt64? = nil, _ page: MembershipPage) {
        time = MembershipLine.text(Double(milliseconds ?? page.time) / 1000)
        // Each is converted by itself: their difference may be longer than any duration, because the node that is asked may say
        // anything.
        since = MembershipLine.text(Double(page.time) / 1000 - page.uptime.inSeconds + member.since.inSeconds)
        self.event = event
        name = PrintableText.of(member.name)
        id = member.node.description
        address = member.address.map { PrintableText.of($0.description) }
        version = PrintableText.of(member.version)
        found = member.found.rawValue
    }

    private static func text(_ seconds: Double) -> String {
        Date(timeIntervalSince1970: seconds).ISO8601Format(.init(includingFractionalSeconds: true))
    }

    var text: String {
        let place = address.map { " at \($0)" } ?? ""
        return "\(time)  \(event)  \(name) (\(id))\(place)"
    }
}

/// Follows pages of changes and makes lines of them. It knows the members, so that one that is gone still has its name.
struct MembershipLines {
    private var members: [NodeID: Member] = [:]

    /// The lines of a page, in order.
    mutating func lines(_ page: MembershipPage) -> [MembershipLine] {
        var lines: [MembershipLine] = []
        if let all = page.members {
            // The page has all members. A node that is not among them has gone without a word.
            let present = Set(all.map(\.node))
            for (node, member) in members where !present.contains(node) {
                members[node] = nil
                lines.append(MembershipLine("lost", member, page))
            }
            for member in all.sorted(by: { ($0.name, $0.node) < ($1.name, $1.node) })
            where members.updateValue(member, forKey: member.node) == nil {
                lines.append(MembershipLine("present", member, page))
            }
        }
        return lines + page.entries.compactMap { line($0, page) }
    }

    private mutating func line(_ entry: MembershipLog.Entry, _ page: MembershipPage) -> MembershipLine? {
        func made(_ event: String, _ member: Member?) -> MembershipLine? {
            member.map { MembershipLine(event, $0, at: entry.time, page) }
        }
        switch entry.event {
        case .joined(let member):
            members[member.node] = member
            return made("joined", member)
        case .back(let member):
            members[member.node] = member
            return made("back", member)
        case .suspect(let node): return made("suspect", members[node])
        case .lost(let node): return made("lost", members.removeValue(forKey: node))
        case .left(let node): return made("left", members.removeValue(forKey: node))
        case .draining(let node, let isDraining): return made(isDraining ? "draining" : "resumed", members[node])
        }
    }
}
