import NIOCore

extension EncodingTape {
    /// Appends the message to `buffer`: the key table, then the root value with everything in its place.
    mutating func assemble(into buffer: inout ByteBuffer) throws {
        if let failure { throw failure }
        let total = Varint.size(keys.count) + keys.bytes.count + measure()
        if let failure { throw failure }
        guard total <= limit, total <= MessageLimits.byteCount - buffer.writerIndex else {
            exceed()
            return try check(Self.root)
        }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: total) { destination in
            var writer = AssemblyWriter(destination)
            writer.appendVarint(keys.count)
            writer.append(keys.bytes.contents)
            emit(Self.root, from: bytes.contents, to: &writer)
            assert(writer.count == total, "measured \(total) bytes, wrote \(writer.count)")
            return writer.count
        }
    }

    /// Finds the size of every body; the result is that of the root value. Children come after their parents, so
    /// that going backwards meets them first.
    private mutating func measure() -> Int {
        for node in nodes.indices.reversed() {
            // An undecided node becomes an empty container, which may be one level more than a reader follows.
            if nodes[node].kind == .undecided { settle(UInt32(node), as: .keyed) }
            let count = Int(nodes[node].count)
            var size = count > 0 ? Varint.size(count) : 0
            var part = nodes[node].firstPart
            while part != TapePart.none {
                let found = parts[Int(part)]
                switch found.content {
                case .bytes: size += end(of: part) - Int(found.offset)
                case .payload(let payload): size += payloads[Int(payload)].form.byteCount
                case .child(let child): size += nodes[Int(child)].headSize + Int(nodes[Int(child)].size)
                }
                part = found.next
            }
            // A body may not fit in 32 bits; then its message does not fit in its limit.
            nodes[node].size = UInt32(clamping: size)
        }
        return nodes[0].headSize + Int(nodes[0].size)
    }

    /// Recursion is bounded by `MessageLimits.depth`, which `check(_:)` and `settle(_:as:)` enforce.
    private func emit(_ node: UInt32, from tape: UnsafeRawBufferPointer, to writer: inout AssemblyWriter) {
        nodes[Int(node)].writeHead(to: &writer)
        var part = nodes[Int(node)].firstPart
        while part != TapePart.none {
            let found = parts[Int(part)]
            switch found.content {
            case .bytes: writer.append(UnsafeRawBufferPointer(rebasing: tape[Int(found.offset)..<end(of: part)]))
            case .payload(let payload):
                let payload = payloads[Int(payload)]
                writer.append(payload.value, as: payload.form)
            case .child(let child): emit(child, from: tape, to: &writer)
            }
            part = found.next
        }
    }

    /// A part's bytes end where the next part on the tape, of whichever node, begins.
    @inline(__always)
    private func end(of part: UInt32) -> Int {
        let next = Int(part) + 1
        return next < parts.count ? Int(parts[next].offset) : bytes.count
    }
}

extension TapeNode {
    /// Bytes of tag and length. A type that encoded nothing is an empty keyed container, as in Foundation's coders.
    var headSize: Int {
        switch kind {
        case .single: 0
        case .keyed, .undecided: size < WireTag.shortKeyed.count ? 1 : 1 + Varint.size(Int(size))
        case .unkeyed: size < WireTag.shortUnkeyed.count ? 1 : 1 + Varint.size(Int(size))
        }
    }

    func writeHead(to writer: inout AssemblyWriter) {
        switch kind {
        case .single: break
        case .keyed, .undecided: writeHead(short: WireTag.shortKeyed, long: WireTag.keyed, to: &writer)
        case .unkeyed:
            writeHead(short: WireTag.shortUnkeyed, long: WireTag.unkeyed, to: &writer)
            if count > 0 { writer.appendVarint(Int(count)) }
        }
    }

    private func writeHead(short: ClosedRange<UInt8>, long: UInt8, to writer: inout AssemblyWriter) {
        if size < short.count {
            writer.append(short.lowerBound + UInt8(truncatingIfNeeded: size))
        } else {
            writer.append(long)
            writer.appendVarint(Int(size))
        }
    }
}
