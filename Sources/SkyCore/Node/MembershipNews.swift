package import Transport

/// What is worth a line of log of other nodes that come and go: a node that was lost comes back under another id where it
/// has been started again, and by its name all the same.
package struct MembershipNews {
    package enum Line: Equatable {
        case joined(String)
        case left(String)
        case lost(String)
        case returned(String)
    }

    /// Lost nodes remembered.
    static let limit = 1024

    private var names: [NodeID: String] = [:]
    private(set) var lost: Set<String> = []

    package init() {}

    /// Events begin anew, with `joined` for each of these. What ended meanwhile has been missed.
    package mutating func begins(with members: [Member]) {
        let present = Set(members.map(\.node))
        names = names.filter { present.contains($0.key) }
    }

    /// - Returns: what to log; `nil` for what passes by itself, and for what has been told.
    package mutating func line(_ event: MembershipEvent) -> Line? {
        switch event {
        case .joined(let member), .back(let member):
            let isKnown = names.updateValue(member.name, forKey: member.node) != nil
            if lost.remove(member.name) != nil { return .returned(member.name) }
            return isKnown ? nil : .joined(member.name)
        case .lost(let node):
            let name = names.removeValue(forKey: node) ?? "\(node)"
            if lost.count >= MembershipNews.limit { lost.removeFirst() }
            lost.insert(name)
            return .lost(name)
        case .left(let node):
            return .left(names.removeValue(forKey: node) ?? "\(node)")
        case .suspect, .draining:
            return nil
        }
    }
}
