import DequeModule
import NIOCore

/// What waits to be written on one link. Control frames go first; long bodies are cut into pieces, and the
/// pieces of different calls take turns, so that a short call never waits for a long one. Data waits for the other
/// side's credit; control frames do not.
package struct Outbox: Sendable {
    private var control: Deque<Frame> = []
    private var data: Deque<Frame> = []
    /// Long bodies that wait until others have gone wholly: the other side puts only so many bytes together at once.
    private var held: Deque<Frame> = []
    /// Bytes of all long bodies among `data`, with what has left of them.
    private var assembling = 0
    /// Whole lengths of the long bodies among `data`.
    private var lengths: [Key: Int] = [:]
    /// Bytes of data frames that the other side still takes.
    private var credit: Int
    /// Bytes of the bodies of calls that wait.
    package private(set) var callBytes = 0
    /// Bytes of the bodies of replies and failures that wait.
    package private(set) var answerBytes = 0
    /// Replies and failures that wait, wholly or in part.
    package private(set) var answerCount = 0
    /// A grant that is to be sent; further ones are added to it.
    private var grant: UInt32 = 0

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

    package var queuedBytes: Int { callBytes + answerBytes }

    package mutating func append(_ frame: Frame) {
        switch frame.kind {
        case .call:
            callBytes += frame.body.readableBytes
            admit(frame)
        case .reply, .failure:
            answerBytes += frame.body.readableBytes
            answerCount += 1
            admit(frame)
        case .cancel:
            // A call that still waits here is simply not made; the control frame would overtake it.
            drop(call: frame.call)
            control.append(frame)
        case .pong where control.contains(where: { $0.kind == .pong }):
            // One answer serves any number of pings, so that a flood of them makes nothing grow.
            break
        default:
            control.append(frame)
        }
    }

    private mutating func admit(_ frame: Frame) {
        let length = frame.body.readableBytes
        guard length > FrameLimits.piece else { return data.append(frame) }
        guard held.isEmpty, assembling == 0 || assembling + length <= FrameLimits.assembly else {
            return held.append(frame)
        }
        begin(frame)
    }

    private mutating func begin(_ frame: Frame) {
        assembling += frame.body.readableBytes
        lengths[Key(kind: frame.kind, call: frame.call)] = frame.body.readableBytes
        var frame = frame
        frame.total = UInt32(clamping: frame.body.readableBytes)
        data.append(frame)
    }

    /// A long body has left wholly, or is not sent any further.
    private mutating func ended(_ kind: Frame.Kind, _ call: UInt64) {
        guard !lengths.isEmpty, let length = lengths.removeValue(forKey: Key(kind: kind, call: call)) else { return }
        assembling -= length
        while let next = held.first, assembling == 0 || assembling + next.body.readableBytes <= FrameLimits.assembly {
            held.removeFirst()
            begin(next)
        }
    }

    private mutating func drop(call: UInt64) {
        if let index = data.firstIndex(where: { $0.kind == .call && $0.call == call }) {
            callBytes -= data.remove(at: index).body.readableBytes
            ended(.call, call)
        } else if let index = held.firstIndex(where: { $0.kind == .call && $0.call == call }) {
            callBytes -= held.remove(at: index).body.readableBytes
        }
    }

    /// This side took in so many bytes and lets the other send as many more.
    package mutating func append(grant bytes: UInt32) {
        grant = UInt32(clamping: UInt64(grant) + UInt64(bytes))
    }

    /// The other side lets this one send so many bytes more. `false` where that cannot be meant.
    package mutating func granted(_ bytes: UInt32) -> Bool {
        credit += Int(bytes)
        return credit <= 1 << 31
    }

    /// The calls that have not left, or not wholly: they cannot have run.
    package var unsentCalls: Set<UInt64> {
        Set([data, held].joined().lazy.filter { $0.kind == .call }.map(\.call))
    }

    /// The next frame to write, at most one piece long; `nil` where nothing waits or the rest has no credit.
    package mutating func next() -> Frame? {
        if grant > 0 {
            defer { grant = 0 }
            return Frame(.grant, body: ByteBuffer(integer: grant))
        }
        if let frame = control.popFirst() { return frame }
        guard let first = data.first else { return nil }
        let size = min(first.body.readableBytes, FrameLimits.piece)
        // Asked for as if the header were the longest.
        guard Frame.longestHeader + size <= credit else { return nil }
        let isCall = first.kind == .call
        if isCall { callBytes -= size } else { answerBytes -= size }
        guard first.body.readableBytes > size, var rest = data.popFirst(), let piece = rest.body.readSlice(length: size)
        else {
            if !isCall { answerCount -= 1 }
            data.removeFirst()
            credit -= first.length
            ended(first.kind, first.call)
            return first
        }
        var frame = Frame(rest.kind, flags: .more, call: rest.call, body: piece)
        if rest.total > 0 {
            frame.flags.insert(.sized)
            frame.total = rest.total
            rest.total = 0
        }
        credit -= frame.length
        data.append(rest)
        return frame
    }
}
