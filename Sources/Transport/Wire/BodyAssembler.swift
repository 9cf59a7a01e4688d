import NIOCore

/// Puts long bodies together from their pieces, several calls' at a time, within a bound.
package struct BodyAssembler {
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case tooMuchUnfinished(limit: Int)

        package var description: String {
            switch self {
            case .tooMuchUnfinished(let limit): "more than \(limit) bytes in unfinished messages"
            }
        }
    }

    package enum Result: Equatable {
        /// The last piece is in.
        case whole(Frame)
        /// More pieces are to come.
        case incomplete
        /// The body has become longer than is taken, or its header says that it will. This result comes once; further pieces of the
        /// body are dropped without a word.
        case tooLong(Frame.Kind, call: UInt64)
    }

    /// A reply and a call of the peer may carry the same id: each side counts its own calls.
    private struct Key: Hashable {
        var kind: Frame.Kind
        var call: UInt64
    }

    private enum Entry {
        /// `reserved` bytes are held for the body, including those that have come.
        case growing(ByteBuffer, reserved: Int)
        /// The pieces of the body are dropped up to the last.
        case refused
    }

    private let bodyLimit: Int
    private var unfinished: [Key: Entry] = [:]
    /// Bytes held for bodies that are not whole yet.
    package private(set) var heldBytes = 0

    /// - Parameter bodyLimit: the longest body taken, in bytes.
    package init(bodyLimit: Int = FrameLimits.body) {
        self.bodyLimit = bodyLimit
    }

    /// Whether a frame is a whole body that is taken as it is, without `add`, as nearly every frame is.
    func passes(_ frame: borrowing Frame) -> Bool {
        !frame.flags.contains(.more) && unfinished.isEmpty && frame.body.readableBytes <= bodyLimit
    }

    package mutating func add(_ frame: Frame) throws(Failure) -> Result { try add(frame, nil) }

    /// - Parameter memory: memory for long bodies, which is used again when a body has been let go.
    mutating func add(_ frame: Frame, _ memory: LoopMemory?) throws(Failure) -> Result {
        let more = frame.flags.contains(.more)
        if passes(frame) { return .whole(frame) }
        let key = Key(kind: frame.kind, call: frame.call)
        switch unfinished.removeValue(forKey: key) {
        case nil: return try begin(frame, key, memory, more: more)
        case .refused:
            if more { unfinished[key] = .refused }
            return .incomplete
        case .growing(var body, let reserved):
            heldBytes -= reserved
            let length = body.readableBytes + frame.body.readableBytes
            if length > bodyLimit { return refuse(key, more: more) }
            body.writeImmutableBuffer(frame.body)
            guard more else {
                memory?.keep(body)
                return .whole(Frame(frame.kind, call: frame.call, body: body))
            }
            try hold(body, reserved: max(length, reserved), as: key)
            return .incomplete
        }
    }

    private mutating func begin(
        _ frame: Frame, _ key: Key, _ memory: LoopMemory?, more: Bool
    ) throws(Failure) -> Result {
        // A body that is whole is as long as it is, whatever its header says.
        let expected = more ? max(frame.body.readableBytes, Int(frame.total)) : frame.body.readableBytes
        if expected > bodyLimit {
            // An entry is kept for the refused body. A mere header must not take memory without end, so the entries are bounded.
            if more { try checkRoom(for: 0) }
            return refuse(key, more: more)
        }
        guard more else { return .whole(frame) }
        // This is checked before memory is taken for the body.
        try checkRoom(for: expected)
        // The body gets room for all of its bytes at once, in memory of its own: the piece is only a slice of the memory that was
        // read.
        var body = memory?.take(expected) ?? ByteBufferAllocator().buffer(capacity: expected)
        body.writeImmutableBuffer(frame.body)
        try hold(body, reserved: expected, as: key)
        return .incomplete
    }

    private mutating func refuse(_ key: Key, more: Bool) -> Result {
        if more { unfinished[key] = .refused }
        return .tooLong(key.kind, call: key.call)
    }

    /// Lets go of the pieces of a call that was cancelled before it was whole.
    package mutating func forget(call: UInt64) {
        if case .growing(_, let reserved) = unfinished.removeValue(forKey: Key(kind: .call, call: call)) {
            heldBytes -= reserved
        }
    }

    private func checkRoom(for bytes: Int) throws(Failure) {
        // An empty piece holds no bytes but still an entry, so entries are bounded too. The peer counts long bodies only, and one
        // of the others may be coming in here too.
        let limit = FrameLimits.assembly + FrameLimits.data
        if heldBytes + bytes > limit || unfinished.count >= FrameLimits.unfinishedBodies {
            throw .tooMuchUnfinished(limit: FrameLimits.assembly)
        }
    }

    private mutating func hold(_ body: ByteBuffer, reserved: Int, as key: Key) throws(Failure) {
        try checkRoom(for: reserved)
        heldBytes += reserved
        unfinished[key] = .growing(body, reserved: reserved)
    }
}
