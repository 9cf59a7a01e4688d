import DequeModule
import NIOCore

/// What waits to be written on one link. Control frames go first; long bodies are cut into pieces, and the
/// pieces of different calls take turns, so that a short call never waits for a long one. Data waits for the other
/// side's credit; control frames do not.
package struct Outbox: Sendable {
    private var control: Deque<Frame> = []
    private var data: Deque<Frame> = []
    /// Long bodies that wait until others have left completely: the other side puts only so many bytes together at once.
    private var held: Deque<Frame> = []
    /// Bytes of all long bodies among `data`, including those bytes that have left.
    private var assembling = 0
    /// Whole lengths of the long bodies among `data`.
    private var lengths: [Key: Int] = [:]
    /// Bytes of data frames that the other side still takes.
    private var credit: Int
    /// The bodies of calls that wait.
    package private(set) var calls = OutboxLoad()
    /// The bodies of replies and failures that wait.
    package private(set) var answers = OutboxLoad()
    /// Replies and failures that wait, wholly or in part.
    package private(set) var answerCount = 0
    /// A grant that is to be sent; further ones are added to it.
    private var grant: UInt32 = 0
    /// Whether a pong is among `control`.
    private var hasPong = false

    private struct Key: Hashable, Sendable {
        var kind: Frame.Kind
        var call: UInt64
    }

    /// - Parameter window: bytes of data that the other side takes before it grants more.
    package init(window: Int) {
        credit = window
    }

    package var isEmpty: Bool { control.isEmpty && data.isEmpty && held.isEmpty && grant == 0 }

    /// Frames that wait.
    package var count: Int { control.count + data.count + held.count }

    /// Control frames that wait.
    package var controlCount: Int { control.count }

    package var queuedBytes: Int { calls.bytes + answers.bytes }

    package mutating func append(_ frame: consuming Frame) {
        switch frame.kind {
        case .call, .reply, .failure:
            frame.isCut = frame.bodySize > FrameLimits.piece
            count(frame.kind, isCut: frame.isCut, frame.bodySize)
            if frame.kind != .call { answerCount += 1 }
            admit(frame)
        case .cancel:
            // A call that still waits here is simply not made; the control frame would overtake it.
            drop(call: frame.call)
            control.append(frame)
        case .pong:
            // One answer serves any number of pings, so that a flood of them makes nothing grow.
            if !hasPong { control.append(frame) }
            hasPong = true
        default:
            control.append(frame)
        }
    }

    /// Counts `bytes` of a frame's body that begin to wait or, where negative, cease to wait.
    private mutating func count(_ kind: Frame.Kind, isCut: Bool, _ bytes: Int) {
        if kind == .call {
            calls.add(bytes, isCut: isCut)
        } else {
            answers.add(bytes, isCut: isCut)
        }
    }

    private mutating func admit(_ frame: consuming Frame) {
        guard frame.isCut else { return data.append(frame) }
        guard held.isEmpty, assembling == 0 || assembling + frame.bodySize <= FrameLimits.assembly else {
            return held.append(frame)
        }
        begin(frame)
    }

    private mutating func begin(_ frame: Frame) {
        assembling += frame.bodySize
        lengths[Key(kind: frame.kind, call: frame.call)] = frame.bodySize
        var frame = frame
        frame.total = UInt32(clamping: frame.bodySize)
        data.append(frame)
    }

    /// Notes that a long body has left completely, or is not sent any further.
    private mutating func finishBody(_ kind: Frame.Kind, _ call: UInt64) {
        guard !lengths.isEmpty, let length = lengths.removeValue(forKey: Key(kind: kind, call: call)) else { return }
        assembling -= length
        while let next = held.first, assembling == 0 || assembling + next.bodySize <= FrameLimits.assembly {
            held.removeFirst()
            begin(next)
        }
    }

    private mutating func drop(call: UInt64) {
        guard calls.bytes > 0 else { return }
        if let index = data.firstIndex(where: { $0.kind == .call && $0.call == call }) {
            let frame = data.remove(at: index)
            count(.call, isCut: frame.isCut, -frame.bodySize)
            finishBody(.call, call)
        } else if let index = held.firstIndex(where: { $0.kind == .call && $0.call == call }) {
            let frame = held.remove(at: index)
            count(.call, isCut: frame.isCut, -frame.bodySize)
        }
    }

    /// Notes that this side took in so many bytes and lets the other send as many more.
    package mutating func append(grant bytes: UInt32) {
        grant = UInt32(clamping: UInt64(grant) + UInt64(bytes))
    }

    /// Notes that the other side lets this one send so many more bytes. The result is `false` where that is out of range.
    package mutating func granted(_ bytes: UInt32) -> Bool {
        credit += Int(bytes)
        return credit <= 1 << 31
    }

    /// The calls that have not left, or not completely: they cannot have run.
    package var unsentCalls: Set<UInt64> {
        Set([data, held].joined().lazy.filter { $0.kind == .call }.map(\.call))
    }

    /// The next frame to write, at most one piece long; `nil` where nothing waits, or where only data waits and has no credit.
    package mutating func next() -> Frame? {
        if grant > 0 {
            defer { grant = 0 }
            return Frame(.grant, body: ByteBuffer(integer: grant))
        }
        if let frame = control.popFirst() {
            if frame.kind == .pong { hasPong = false }
            return frame
        }
        guard let size = data.first.map({ min($0.bodySize, FrameLimits.piece) }),
            // The check assumes the longest header.
            Frame.longestHeader + size <= credit
        else { return nil }
        var first = data.removeFirst()
        count(first.kind, isCut: first.isCut, -size)
        guard first.bodySize > size else {
            if first.kind != .call { answerCount -= 1 }
            credit -= first.length
            finishBody(first.kind, first.call)
            return first
        }
        let piece = first.takePiece(size)
        credit -= piece.length
        data.append(first)
        return piece
    }
}
