import Transport

/// Why something failed: words, and the nodes that they are about.
///
/// A reason holds nodes as ids, not as text, because the code that shows the reason knows their names and the scheduler
/// does not. It is made like text: `"\(node) was lost"`. It has a limit, because much of it comes from peers and C
/// libraries.
package struct FailureReason: Hashable, Sendable {
    private enum Part: Hashable {
        case words(String)
        case node(NodeID)
    }

    private var parts: [Part] = []
    /// How many bytes of words may still be added.
    private var room = FailureReason.limit

    /// The most bytes that the words of a reason may have: some lines on a terminal. A journal may keep millions of reasons.
    package static let limit = 2000

    /// Makes a reason of somebody else's words, and cuts them where they are too long.
    package init(_ words: String) { append(words) }

    /// The reason as text for a reader, with the names of nodes.
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
        // A node counts for 16 bytes, about the length of a name.
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
    /// Two reasons are equal if their text is the same, however it was put together.
    package static func == (left: FailureReason, right: FailureReason) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension FailureReason: ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral value: String) { append(value) }

    package init(stringInterpolation: Words) { self = stringInterpolation.reason }

    /// The reason with ids in place of names.
    package var description: String { text { _ in nil } }

    /// What Swift makes of `"... \(value) ..."`.
    package struct Words: StringInterpolationProtocol {
        fileprivate var reason = FailureReason("")

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { reason.append(literal) }

        mutating func appendInterpolation(_ node: NodeID) { reason.append(node) }

        /// Appends the nodes with commas between them.
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
    /// The characters that fit into `limit` bytes; if some are cut off, three dots stand for them.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let dots = "..."
        var bytes = utf8.prefix(max(0, limit - dots.utf8.count))
        // A character must not be cut in two: the bytes that continue one begin with the bits 10.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last & 0xC0 == 0xC0 { bytes.removeLast() }
        return String(Substring(bytes)) + dots
    }
}
