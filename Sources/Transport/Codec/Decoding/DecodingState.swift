import NIOCore

/// The bytes of a message being decoded, its key table, what has been opened, and how much of the limits has been spent.
struct DecodingState: ~Copyable {
    private(set) var reader = WireReader()
    private(set) var buffer: ByteBuffer?
    private(set) var limits = DecodingLimits()
    var keys = DecodingKeys()
    /// The keyed containers opened so far.
    var bodies: [KeyedBody] = []
    /// How often a container was opened, whether it was in order or not. The count starts at 1.
    var openedCount: UInt32 = 0
    /// Where the fields of a large container are, by key.
    var fieldIndexes: [Int: [UInt32: UInt32]] = [:]
    /// The nested values met so far, for coding paths and depths. The list grows by one for each value that takes bytes. The root,
    /// node 0, is not among them.
    private var nodes: [PathNode] = []
    private var elementsLeft = 0
    private var recursion = 0

    private struct PathNode {
        let place: WirePlace
        let depth: UInt32
    }

    private static let idleNodeCountMax = 256

    /// Reads the key table and the head of the root value, which must end where the message ends. `reader` reads
    /// `buffer`, which stays as it is until `close()`.
    mutating func open(_ buffer: ByteBuffer, reader: WireReader, limits: DecodingLimits) throws -> WireValue {
        self.reader = reader
        self.buffer = buffer
        self.limits = limits
        elementsLeft = limits.elements
        var offset = 0
        try keys.read(from: reader, at: &offset, limits: limits)
        let value = try reader.value(at: &offset, end: reader.count)
        guard offset == reader.count else { throw WireCodingError.trailingBytes(count: reader.count - offset) }
        return value
    }

    /// Forgets the bytes. Decoders that a type has kept throw from now on.
    mutating func close() {
        reader = WireReader()
        buffer = nil
        keys.close()
    }

    /// Makes the state ready for another message.
    mutating func clear() {
        keys.clear()
        bodies.removeAll(keepingCapacity: bodies.count <= Self.idleNodeCountMax)
        nodes.removeAll(keepingCapacity: nodes.count <= Self.idleNodeCountMax)
        if !fieldIndexes.isEmpty { fieldIndexes = [:] }
        openedCount = 0
        recursion = 0
    }
}

// MARK: - Places

/// Where a value stands: the nested value around it, and its key or index there.
struct WirePlace {
    let parent: UInt32
    let label: PathLabel

    static let root = WirePlace(parent: 0, label: .root)
}

extension DecodingState {
    /// Remembers a nested value; the result stands for it.
    mutating func addNode(_ place: WirePlace) -> UInt32 {
        nodes.append(PathNode(place: place, depth: depth(of: place.parent) + 1))
        return UInt32(truncatingIfNeeded: nodes.count)
    }

    func place(of node: UInt32) -> WirePlace {
        node == 0 ? .root : nodes[Int(node) - 1].place
    }

    private func depth(of node: UInt32) -> UInt32 {
        node == 0 ? 0 : nodes[Int(node) - 1].depth
    }

    func codingPath(of place: WirePlace) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var place = place
        while let key = place.label.codingKey(text: { text(ofKey: $0) }) {
            path.append(key)
            place = self.place(of: place.parent)
        }
        return path.reversed()
    }

    func text(ofKey position: Int) -> String {
        guard let range = keys.range(at: position), let bytes = try? reader.slice(range) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: - Limits

extension DecodingState {
    /// Pays for opening a container of `count` elements that is the value `node`.
    mutating func enter(_ node: UInt32, count: Int) throws {
        guard depth(of: node) < limits.depth else {
            throw WireCodingError.limitExceeded("depth", limit: limits.depth)
        }
        guard count < elementsLeft else {
            throw WireCodingError.limitExceeded("elements", limit: limits.elements)
        }
        elementsLeft -= count + 1
    }

    /// Pays for a type that decodes itself. A wrapper (an `Optional`, a raw value) re-enters without going deeper on
    /// the wire, so recursion has a limit of its own.
    mutating func descend() throws {
        let recursionLimit = 4 * max(limits.depth, 1)
        guard recursion < recursionLimit else {
            throw WireCodingError.limitExceeded("recursion", limit: recursionLimit)
        }
        recursion += 1
    }

    mutating func ascend() {
        recursion -= 1
    }
}
