import NIOCore

/// Everything an encoder has written, in the order of writing, and which container each piece belongs to.
///
/// `Codable` lets a type write to several open containers in turn, while the format wants each container in one piece behind its
/// length. So the bytes of all containers go to one buffer as they come, and each stretch of them is noted as a part of its
/// container. `assemble(into:)` puts the parts in order at the end. So there are flat arrays and no tree, and every length is known
/// before it is written.
struct EncodingTape: ~Copyable {
    /// The value that is the message.
    static let root: UInt32 = 0

    /// The scalars, keys and small payloads of all containers.
    private(set) var bytes = TapeBytes()
    /// Payloads too long to copy twice.
    private(set) var payloads: [TapePayload] = []
    private(set) var parts: [TapePart] = []
    var nodes = [TapeNode.root]
    private(set) var keys = EncodingKeys()
    /// The longest message to make.
    var limit = MessageLimits.byteCount
    /// Bytes of the message that are not in `bytes`, as far as they are known: payloads and keys.
    private var asideByteCount = 0
    /// The fields beyond a node's bit mask, to find a key used twice.
    private var fields: Set<FieldID> = []
    /// The node whose part is the last and may grow.
    private var writer = TapePart.none
    /// The first error, kept because a type may swallow it and `nestedContainer` cannot throw it.
    private(set) var failure: (any Error)?

    private struct FieldID: Hashable {
        let node: UInt32
        let key: Int
    }

    /// A payload and what it was found to be when it was written.
    struct TapePayload {
        let value: any WirePayload
        let form: PayloadForm
    }

    /// Longer payloads than this are kept by reference: below it a copy is cheaper.
    private static let copyLimit = 4096
    /// Memory kept for the next message: enough for the small ones that come by the thousand.
    private static let idleByteCountMax = 16 * 1024
    private static let idleNodeCountMax = 256

    /// Makes the tape ready for another message.
    mutating func clear() {
        bytes.clear(capacityMax: Self.idleByteCountMax)
        keys.clear(capacityMax: Self.idleByteCountMax)
        let keepsCapacity = nodes.count <= Self.idleNodeCountMax
        parts.removeAll(keepingCapacity: keepsCapacity)
        nodes.removeAll(keepingCapacity: keepsCapacity)
        nodes.append(.root)
        if !payloads.isEmpty { payloads = [] }
        if !fields.isEmpty { fields = [] }
        limit = MessageLimits.byteCount
        asideByteCount = 0
        writer = TapePart.none
        failure = nil
    }
}

// MARK: - Nodes

extension EncodingTape {
    /// Makes room for a value inside `parent`, to be filled now or later.
    mutating func addChild(of parent: UInt32, label: PathLabel) -> UInt32 {
        let child = UInt32(truncatingIfNeeded: nodes.count)
        nodes.append(TapeNode(parent: parent, label: label, depth: nodes[Int(parent)].depth + 1))
        link(.child(child), to: parent)
        writer = TapePart.none
        return child
    }

    /// Does the same for a value that encodes itself, which may go on for ever.
    mutating func addCheckedChild(of parent: UInt32, label: PathLabel) throws -> UInt32 {
        let child = addChild(of: parent, label: label)
        try check(child)
        return child
    }

    /// Decides what `node` is. A type may ask for the same kind of container again, but not for another.
    mutating func settle(_ node: UInt32, as kind: TapeNode.Kind) {
        let found = nodes[Int(node)].kind
        if found == .undecided {
            nodes[Int(node)].kind = kind
        } else if found != kind || kind == .single {
            fail(node, "A value asked for two containers of different kinds, or wrote two values where one goes")
        }
        if kind != .single, nodes[Int(node)].depth >= MessageLimits.depth {
            fail(node, "Containers nest deeper than \(MessageLimits.depth)")
        }
    }

    /// Throws an earlier failure, or an error where `node` is too deep: a cycle of classes has no end.
    mutating func check(_ node: UInt32) throws {
        if nodes[Int(node)].depth > MessageLimits.depth {
            fail(node, "Values nest deeper than \(MessageLimits.depth) containers")
        }
        // Each node takes at least a byte of the message.
        if nodes.count > limit { exceed() }
        if let failure { throw failure }
    }

    /// Remembers that the value at `node` cannot be encoded.
    mutating func fail(_ node: UInt32, _ reason: String) {
        guard failure == nil else { return }
        failure = EncodingError.invalidValue(
            reason, EncodingError.Context(codingPath: codingPath(of: node), debugDescription: reason))
    }

    /// Remembers that the message is too long.
    mutating func exceed() {
        failure = failure ?? WireCodingError.limitExceeded("message bytes", limit: limit)
    }

    func codingPath(of node: UInt32) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var node = node
        while node != Self.root {
            let found = nodes[Int(node)]
            if let key = found.label.codingKey(text: { keys.text(at: $0) }) { path.append(key) }
            node = found.parent
        }
        return path.reversed()
    }
}

// MARK: - Writing

extension EncodingTape {
    /// Begins a field of the keyed container `node`; its value comes next. The result labels that value.
    @inline(__always)
    mutating func beginField(_ text: String, in node: UInt32) throws -> PathLabel {
        if let failure { throw failure }
        let keyByteCount = keys.bytes.count
        let key = keys.position(of: text)
        if keys.bytes.count != keyByteCount { asideByteCount += keys.bytes.count - keyByteCount }
        guard isNewField(key, in: node) else {
            fail(node, "Key \"\(text)\" is written twice")
            try check(node)
            return .root
        }
        beginPart(of: node)
        bytes.appendVarint(key)
        return .key(UInt32(truncatingIfNeeded: key))
    }

    /// Counts an element of the unkeyed container `node`; its value comes next. The result labels that value.
    @inline(__always)
    mutating func beginElement(in node: UInt32) throws -> PathLabel {
        if let failure { throw failure }
        let index = nodes[Int(node)].count
        nodes[Int(node)].count = index &+ 1
        return .index(index)
    }

    /// Writes a scalar where the value of `node`'s current field, element or own value goes.
    @inline(__always)
    mutating func write(_ scalar: WireScalar, to node: UInt32) throws {
        beginPart(of: node)
        bytes.append(scalar)
        if bytes.count > limit - asideByteCount { try refuse() }
    }

    /// Writes text in that place.
    mutating func write(_ text: String, to node: UInt32) throws {
        let count = text.utf8.count
        guard count <= limit - asideByteCount - bytes.count else { return try refuse() }
        beginPart(of: node)
        bytes.appendString(text, byteCount: count)
    }

    /// Writes bytes, or numbers in bulk, in that place.
    mutating func write(_ payload: any WirePayload, to node: UInt32) throws {
        guard payload.byteCountMin <= limit - asideByteCount - bytes.count else { return try refuse() }
        let form = payload.form
        let count = form.byteCount
        guard count <= limit - asideByteCount - bytes.count else { return try refuse() }
        beginPart(of: node)
        form.writeHead(to: &bytes)
        if count <= Self.copyLimit {
            bytes.append(count: count) { payload.copy(as: form, to: $0) }
        } else {
            link(.payload(UInt32(truncatingIfNeeded: payloads.count)), to: node)
            payloads.append(TapePayload(value: payload, form: form))
            asideByteCount += count
            writer = TapePart.none
        }
    }

    @inline(__always)
    private mutating func isNewField(_ key: Int, in node: UInt32) -> Bool {
        guard key < UInt64.bitWidth else { return fields.insert(FieldID(node: node, key: key)).inserted }
        let bit: UInt64 = 1 << UInt64(truncatingIfNeeded: key)
        let written = nodes[Int(node)].fields
        nodes[Int(node)].fields = written | bit
        return written & bit == 0
    }

    @inline(never)
    private mutating func refuse() throws {
        exceed()
        if let failure { throw failure }
    }

    @inline(__always)
    private mutating func beginPart(of node: UInt32) {
        guard node != writer else { return }
        link(.bytes, to: node)
        writer = node
    }

    private mutating func link(_ content: TapePart.Content, to node: UInt32) {
        let part = UInt32(truncatingIfNeeded: parts.count)
        parts.append(TapePart(content: content, offset: UInt32(truncatingIfNeeded: bytes.count)))
        let last = nodes[Int(node)].lastPart
        if last == TapePart.none {
            nodes[Int(node)].firstPart = part
        } else {
            parts[Int(last)].next = part
        }
        nodes[Int(node)].lastPart = part
    }
}
