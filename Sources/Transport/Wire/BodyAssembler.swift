import NIOCore

/// Puts long bodies together from their pieces, several calls' at a time, within a bound.
package struct BodyAssembler {
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case bodyTooLarge(limit: Int)
        case tooMuchUnfinished(limit: Int)

        package var description: String {
            switch self {
            case .bodyTooLarge(let limit): "a message of more than \(limit) bytes"
            case .tooMuchUnfinished(let limit): "more than \(limit) bytes in unfinished messages"
            }
        }
    }

    /// A reply and a call of the peer may carry the same id: each side counts its own calls.
    private struct Key: Hashable {
        var kind: Frame.Kind
        var call: UInt64
    }

    private var unfinished: [Key: ByteBuffer] = [:]
    /// Bytes held for bodies that are not whole yet.
    package private(set) var heldBytes = 0

    package init() {}

    /// The whole frame once its last piece is in, `nil` before.
    package mutating func add(_ frame: Frame) throws(Failure) -> Frame? {
        let key = Key(kind: frame.kind, call: frame.call)
        let more = frame.flags.contains(.more)
        guard var body = unfinished.removeValue(forKey: key) else {
            if more { try hold(frame.body, as: key) }
            return more ? nil : frame
        }
        heldBytes -= body.readableBytes
        var piece = frame.body
        if body.readableBytes + piece.readableBytes > FrameLimits.body {
            throw .bodyTooLarge(limit: FrameLimits.body)
        }
        body.writeBuffer(&piece)
        if more {
            try hold(body, as: key)
            return nil
        }
        return Frame(frame.kind, call: frame.call, body: body)
    }

    /// Lets go of the pieces of a call that was cancelled before it was whole.
    package mutating func forget(call: UInt64) {
        if let body = unfinished.removeValue(forKey: Key(kind: .call, call: call)) { heldBytes -= body.readableBytes }
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
