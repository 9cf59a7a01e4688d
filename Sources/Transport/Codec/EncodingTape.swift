import NIOCore

/// Everything an encoder has written, in the order of writing, and which container each piece belongs to.
///
/// `Codable` lets a type write to several open containers in turn, while the format wants each container in one
/// piece behind its length. So the bytes of all containers go to one buffer as they come, each stretch of them noted
/// as a part of its container, and `assemble(into:)` puts the parts in order at the end: flat arrays, no tree, and
/// every length is known before it is written.
struct EncodingTape {
    /// The value that is the message.
    static let root = 0

    /// The scalars, keys and small payloads of all containers.
    private(set) var bytes: [UInt8] = []
    /// Byte payloads too long to copy twice.
    private(set) var payloads: [ByteBuffer] = []
    private(set) var parts: [TapePart] = []
    var nodes: [TapeNode] = [TapeNode(parent: -1, label: .root, depth: 0)]
    private(set) var keys = KeyTable()
    /// Bytes of the key table.
    private(set) var keyByteCount = 0
    /// The fields beyond a node's bit mask, to find a key used twice.
    private var fields: Set<FieldID> = []
    /// The node whose part is the last and may grow.
    private var writer = -1
    /// The first error, kept because a type may swallow it and `nestedContainer` cannot throw it.
    private(set) var failure: (any Error)?

    private struct FieldID: Hashable {
        let node: Int
        let key: Int
    }

    /// Longer payloads than this are kept by reference: below it a copy is cheaper.
    private static let copyLimit = 4096
}

// MARK: - Nodes

extension EncodingTape {
    /// Makes room for a value inside `parent`, to be filled now or later.
    mutating func addChild(of parent: Int, label: PathLabel) -> Int {
        let child = nodes.count
        nodes.append(TapeNode(parent: parent, label: label, depth: nodes[parent].depth + 1))
        link(.child(child), to: parent)
        writer = -1
        return child
    }

    /// The same for a value that encodes itself, which may go on for ever.
    mutating func addCheckedChild(of parent: Int, label: PathLabel) throws -> Int {
        let child = addChild(of: parent, label: label)
        try check(child)
        return child
    }

    /// Decides what `node` is. A type may ask for the same kind of container again, not for another.
    mutating func settle(_ node: Int, as kind: TapeNode.Kind) {
        if nodes[node].kind == .undecided {
            nodes[node].kind = kind
        } else if nodes[node].kind != kind || kind == .single {
            fail(node, "A value asked for two containers of different kinds, or wrote two values where one goes")
        }
        if kind != .single, nodes[node].depth >= WireCoder.Limits().depth {
            fail(node, "Containers nest deeper than \(WireCoder.Limits().depth)")
        }
    }

    /// Throws what went wrong earlier, or when a child of `node` would be too deep: a cycle of classes has no end.
    mutating func check(_ node: Int) throws {
        if let failure { throw failure }
        guard nodes[node].depth <= WireCoder.Limits().depth else {
            fail(node, "Values nest deeper than \(WireCoder.Limits().depth) containers")
            return try check(node)
        }
    }

    /// Remembers that the value at `node` cannot be encoded.
    mutating func fail(_ node: Int, _ reason: String) {
        guard failure == nil else { return }
        failure = EncodingError.invalidValue(
            reason, EncodingError.Context(codingPath: codingPath(of: node), debugDescription: reason))
    }

    func codingPath(of node: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = node
        while node > Self.root {
            if let key = nodes[node].label.codingKey(in: keys) { path.append(key) }
            node = nodes[node].parent
        }
        return path.reversed()
    }
}

// MARK: - Writing

extension EncodingTape {
    /// Begins a field of the keyed container `node`; its value comes next. The result labels that value.
    mutating func writeKey(_ text: String, to node: Int) throws -> PathLabel {
        if let failure { throw failure }
        let key = try keyPosition(text, in: node)
        let isNew =
            if key < UInt64.bitWidth {
                nodes[node].fields & (1 << UInt64(key)) == 0
            } else {
                fields.insert(FieldID(node: node, key: key)).inserted
            }
        guard isNew else {
            fail(node, "Key \"\(text)\" is written twice")
            try check(node)
            return .key(UInt32(truncatingIfNeeded: key))
        }
        if key < UInt64.bitWidth { nodes[node].fields |= 1 << UInt64(key) }
        beginPart(of: node)
        bytes.appendVarint(key)
        return .key(UInt32(truncatingIfNeeded: key))
    }

    /// Counts an element of the unkeyed container `node`; its value comes next. The result labels that value.
    mutating func writeElement(to node: Int) throws -> PathLabel {
        if let failure { throw failure }
        defer { nodes[node].count += 1 }
        return .index(UInt32(truncatingIfNeeded: nodes[node].count))
    }

    /// Writes a scalar where the value of `node`'s current field, element or own value goes.
    @inline(__always)
    mutating func write<Value: WirePrimitive>(_ value: Value, to node: Int) throws {
        try makeRoom(for: value.byteCountBound, in: node)
        beginPart(of: node)
        value.write(to: &bytes)
    }

    /// Writes bytes there.
    mutating func write(payload: ByteBuffer, to node: Int) throws {
        let count = payload.readableBytes
        try makeRoom(for: 16 + count, in: node)
        beginPart(of: node)
        bytes.append(WireTag.bytes)
        bytes.appendVarint(count)
        if count <= Self.copyLimit {
            bytes.append(contentsOf: payload.readableBytesView)
        } else {
            link(.payload(payloads.count), to: node)
            payloads.append(payload)
            writer = -1
        }
    }

    /// Lets `write` append the `count` bytes of one value there.
    mutating func write(count: Int, to node: Int, with write: (inout [UInt8]) -> Void) throws {
        try makeRoom(for: count, in: node)
        beginPart(of: node)
        write(&bytes)
    }

    private mutating func keyPosition(_ text: String, in node: Int) throws -> Int {
        if let key = keys.position(of: text) { return key }
        let count = text.utf8.count
        try makeRoom(for: count, in: node)
        keyByteCount += Varint.size(count) + count
        keys.append(text)
        return keys.count - 1
    }

    /// `ByteBuffer` traps at 4 GiB; no message comes near it.
    private mutating func makeRoom(for count: Int, in node: Int) throws {
        guard count <= WireReader.messageLimit - bytes.count else {
            fail(node, "Message is longer than \(WireReader.messageLimit) bytes")
            return try check(node)
        }
    }

    private mutating func beginPart(of node: Int) {
        if node != writer {
            link(.bytes, to: node)
            writer = node
        }
    }

    private mutating func link(_ content: TapePart.Content, to node: Int) {
        let last = nodes[node].lastPart
        if last < 0 {
            nodes[node].firstPart = parts.count
        } else {
            parts[last].next = parts.count
        }
        nodes[node].lastPart = parts.count
        parts.append(TapePart(content: content, offset: bytes.count))
    }
}

/// The tape of one encode, shared by all its encoders and containers. They touch it in short steps, never while a
/// value encodes itself, because that value comes back to it.
final class EncodingSession {
    var tape = EncodingTape()
}

extension EncodingSession {
    /// Writes any value where the current value of `node` goes: itself if it can, otherwise what the value does.
    func write<T: Encodable>(_ value: T, to node: Int, label: PathLabel) throws {
        if let native = NativeValue(value) { return try tape.write(native, to: node) }
        let child = try tape.addCheckedChild(of: node, label: label)
        try value.encode(to: WireEncoder(session: self, node: child))
    }
}
