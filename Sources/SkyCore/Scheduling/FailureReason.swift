import Transport

/// Why something failed: words, and the nodes that they are about.
///
/// Nodes stand in it as ids, not as text, because whoever shows the reason knows their names and the scheduler does not. Made
/// like text: `"\(node) was lost"`. Bounded, because much of it is what peers and C libraries say.
package struct FailureReason: Hashable, Sendable {
    private enum Part: Hashable {
        case words(String)
        case node(NodeID)
    }

    private var parts: [Part] = []
    /// Bytes of words that may still be added.
    private var room = FailureReason.limit

    /// Bytes of the words of a reason: some lines on a terminal. A journal may keep millions of them.
    package static let limit = 2000

    /// The words of somebody else, cut where they are too many.
    package init(_ words: String) { append(words) }

    /// What there is to be read, with the names of nodes.
    func text(naming name: (NodeID) -> String?) -> String {
        parts.map { part in
            switch part {
            case .words(let words): words
            case .node(let node): name(node) ?? "node \(node)"
            }
        }.joined()
    }

    package var isEmpty: Bool { parts.isEmpty }

    private mutating func append(_ words: String) {
        guard !words.isEmpty, room > 0 else { return }
        let kept = words.utf8.count <= room ? words : words.cut(toBytes: room)
        room -= max(1, kept.utf8.count)
        if kept.utf8.count < words.utf8.count { room = 0 }
        parts.append(.words(kept))
    }

    private mutating func append(_ node: NodeID) {
        guard room > 0 else { return }
        // About as long as a name.
        room -= 16
        parts.append(.node(node))
    }

    private mutating func append(_ other: FailureReason) {
        for part in other.parts {
            switch part {
            case .words(let words): append(words)
            case .node(let node): append(node)
            }
        }
    }
}

extension FailureReason {
    /// The same where the same is read, however it was put together.
    package static func == (left: FailureReason, right: FailureReason) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension FailureReason: ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral value: String) { append(value) }

    package init(stringInterpolation: Words) { self = stringInterpolation.reason }

    /// With ids in place of names.
    package var description: String { text { _ in nil } }

    /// What Swift makes of `"... \(value) ..."`.
    package struct Words: StringInterpolationProtocol {
        fileprivate var reason = FailureReason("")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { reason.append(literal) }

        mutating func appendInterpolation(_ node: NodeID) { reason.append(node) }

        /// With commas between them.
        mutating func appendInterpolation(_ nodes: [NodeID]) {
            for (index, node) in nodes.enumerated() {
                if index > 0 { reason.append(", ") }
                reason.append(node)
            }
        }

        package mutating func appendInterpolation(_ other: FailureReason) { reason.append(other) }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            reason.append(value.description)
        }
    }
}

extension String {
    /// The characters that fit into so many bytes, and dots for the rest.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let dots = "..."
        var bytes = utf8.prefix(max(0, limit - dots.utf8.count))
        // Not in the middle of a character: bytes that continue one begin with the bits 10.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last & 0xC0 == 0xC0 { bytes.removeLast() }
        return String(Substring(bytes)) + dots
    }
}
