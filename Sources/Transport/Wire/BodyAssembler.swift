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
        /// The body has become longer than is taken. Said once; its further pieces are dropped without a word.
        case tooLong(Frame.Kind, call: UInt64)
    }

    /// A reply and a call of the peer may carry the same id: each side counts its own calls.
    private struct Key: Hashable {
        var kind: Frame.Kind
        var call: UInt64
    }

    private let bodyLimit: Int
    /// `nil` for a body whose pieces are dropped up to its last.
    private var unfinished: [Key: ByteBuffer?] = [:]
    /// Bytes held for bodies that are not whole yet.
    package private(set) var heldBytes = 0

    /// - Parameter bodyLimit: the longest body taken, in bytes.
    package init(bodyLimit: Int = FrameLimits.body) {
        self.bodyLimit = bodyLimit
    }

    package mutating func add(_ frame: Frame) throws(Failure) -> Result {
        let more = frame.flags.contains(.more)
        // Nearly every body is whole at once.
        if !more, unfinished.isEmpty, frame.body.readableBytes <= bodyLimit { return .whole(frame) }
        let key = Key(kind: frame.kind, call: frame.call)
        guard let entry = unfinished.removeValue(forKey: key) else { return try begin(frame, key, more: more) }
        guard var body = entry else {
            if more { unfinished[key] = .some(nil) }
            return .incomplete
        }
        heldBytes -= body.readableBytes
        var piece = frame.body
        if body.readableBytes + piece.readableBytes > bodyLimit { return refuse(key, more: more) }
        body.writeBuffer(&piece)
        if more {
            try hold(body, as: key)
            return .incomplete
        }
        return .whole(Frame(frame.kind, call: frame.call, body: body))
    }

    private mutating func begin(_ frame: Frame, _ key: Key, more: Bool) throws(Failure) -> Result {
        if frame.body.readableBytes > bodyLimit { return refuse(key, more: more) }
        guard more else { return .whole(frame) }
        // A buffer of its own: the piece is a slice of what was read, and appending to it would copy all of that.
        var body = ByteBuffer()
        body.writeImmutableBuffer(frame.body)
        try hold(body, as: key)
        return .incomplete
    }

    private mutating func refuse(_ key: Key, more: Bool) -> Result {
        if more { unfinished[key] = .some(nil) }
        return .tooLong(key.kind, call: key.call)
    }

    /// Lets go of the pieces of a call that was cancelled before it was whole.
    package mutating func forget(call: UInt64) {
        if case .some(.some(let body)) = unfinished.removeValue(forKey: Key(kind: .call, call: call)) {
            heldBytes -= body.readableBytes
        }
    }

    private mutating func hold(_ body: ByteBuffer, as key: Key) throws(Failure) {
        // Empty pieces hold no bytes but an entry each, so entries are bounded too.
        if heldBytes + body.readableBytes > FrameLimits.assembly || unfinished.count >= FrameLimits.unfinishedBodies {
            throw .tooMuchUnfinished(limit: FrameLimits.assembly)
        }
        heldBytes += body.readableBytes
        unfinished[key] = body
    }
}
