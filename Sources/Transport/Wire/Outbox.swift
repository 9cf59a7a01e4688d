import DequeModule
import NIOCore

/// What waits to be written on one link. Control frames go first; long bodies are cut into pieces, and the
/// pieces of different calls take turns, so that a short call never waits for a long one.
package struct Outbox {
    private var control: Deque<Frame> = []
    private var data: Deque<Frame> = []
    /// Bytes of the bodies that wait.
    package private(set) var queuedBytes = 0

    package init() {}

    package var isEmpty: Bool { control.isEmpty && data.isEmpty }

    /// Frames that wait.
    package var count: Int { control.count + data.count }

    package mutating func append(_ frame: Frame) {
        if frame.kind == .cancel {
            // A call that still waits here is simply not made; a control frame would overtake it.
            data.removeAll { waiting in
                guard waiting.kind == .call, waiting.call == frame.call else { return false }
                queuedBytes -= waiting.body.readableBytes
                return true
            }
        }
        queuedBytes += frame.body.readableBytes
        if frame.kind.isControl {
            control.append(frame)
        } else {
            data.append(frame)
        }
    }

    /// The next frame to write, at most one piece long.
    package mutating func next() -> Frame? {
        if let frame = control.popFirst() {
            queuedBytes -= frame.body.readableBytes
            return frame
        }
        guard var frame = data.popFirst() else { return nil }
        if frame.body.readableBytes > FrameLimits.piece, let piece = frame.body.readSlice(length: FrameLimits.piece) {
            data.append(frame)
            queuedBytes -= piece.readableBytes
            return Frame(frame.kind, flags: .more, call: frame.call, body: piece)
        }
        queuedBytes -= frame.body.readableBytes
        return frame
    }
}
