import NIOCore

extension EncodingTape {
    /// Appends the message to `buffer`: the key table, then the root value with everything in its place.
    mutating func assemble(into buffer: inout ByteBuffer) throws {
        if let failure { throw failure }
        let total = Varint.size(keys.count) + keyByteCount + measure()
        guard total <= WireReader.messageLimit - buffer.writerIndex else {
            fail(Self.root, "Message is longer than \(WireReader.messageLimit) bytes")
            return try check(Self.root)
        }
        buffer.reserveCapacity(minimumWritableBytes: total)
        buffer.writeVarint(keys.count)
        for key in keys.texts {
            buffer.writeVarint(key.utf8.count)
            buffer.writeString(key)
        }
        bytes.withUnsafeBytes { emit(Self.root, from: $0, into: &buffer) }
    }

    /// Finds the size of every body; the result is that of the root value. Children come after their parents, so
    /// that going backwards meets them first.
    private mutating func measure() -> Int {
        for node in nodes.indices.reversed() {
            var size = nodes[node].count > 0 ? Varint.size(nodes[node].count) : 0
            var part = nodes[node].firstPart
            while part >= 0 {
                switch parts[part].content {
                case .bytes: size += end(of: part) - parts[part].offset
                case .payload(let payload): size += payloads[payload].readableBytes
                case .child(let child): size += nodes[child].headSize + nodes[child].size
                }
                part = parts[part].next
            }
            nodes[node].size = size
        }
        return nodes[Self.root].headSize + nodes[Self.root].size
    }

    /// Recursion is bounded by `Limits.depth`, which `check(_:)` and `settle(_:as:)` enforce.
    private func emit(_ node: Int, from tape: UnsafeRawBufferPointer, into buffer: inout ByteBuffer) {
        nodes[node].writeHead(to: &buffer)
        var part = nodes[node].firstPart
        while part >= 0 {
            switch parts[part].content {
            case .bytes:
                buffer.writeBytes(UnsafeRawBufferPointer(rebasing: tape[parts[part].offset..<end(of: part)]))
            case .payload(let payload): buffer.writeImmutableBuffer(payloads[payload])
            case .child(let child): emit(child, from: tape, into: &buffer)
            }
            part = parts[part].next
        }
    }

    /// A part's bytes end where the next part on the tape, of whichever node, begins.
    private func end(of part: Int) -> Int {
        part + 1 < parts.count ? parts[part + 1].offset : bytes.count
    }
}

extension TapeNode {
    /// Bytes of tag and length. A type that encoded nothing is an empty keyed container, as in Foundation's coders.
    var headSize: Int {
        switch kind {
        case .single: 0
        case .keyed, .undecided: size < WireTag.shortKeyed.count ? 1 : 1 + Varint.size(size)
        case .unkeyed: size < WireTag.shortUnkeyed.count ? 1 : 1 + Varint.size(size)
        }
    }

    func writeHead(to buffer: inout ByteBuffer) {
        switch kind {
        case .single: break
        case .keyed, .undecided: writeHead(short: WireTag.shortKeyed, long: WireTag.keyed, to: &buffer)
        case .unkeyed:
            writeHead(short: WireTag.shortUnkeyed, long: WireTag.unkeyed, to: &buffer)
            if count > 0 { buffer.writeVarint(count) }
        }
    }

    private func writeHead(short: ClosedRange<UInt8>, long: UInt8, to buffer: inout ByteBuffer) {
        if size < short.count {
            buffer.writeInteger(short.lowerBound + UInt8(size))
        } else {
            buffer.writeInteger(long)
            buffer.writeVarint(size)
        }
    }
}
