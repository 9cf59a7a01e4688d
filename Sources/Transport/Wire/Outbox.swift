import DequeModule
import NIOCore

/// What waits to be written on one link. Control frames go first; long bodies are cut into pieces, and the
/// pieces of different calls take turns, so that a short call never waits for a long one. Data waits for the other
/// side's credit; control frames do not.
///
/// Short data frames wait as the bytes that they will be on the wire, all in one piece of memory. So a short frame costs neither
/// memory of its own nor a look at each of its parts when it is written.
package struct Outbox: Sendable {
    /// The longest body that waits as bytes behind others. It is copied while the outbox is locked, so it is short.
    static let shortLimit = 4 * 1024

    private var control: Deque<Frame> = []
    /// The data frames that are not short.
    private var data: Deque<Waiting> = []
    private var shorts: Deque<Short> = []
    /// The bytes of `shorts`, from `shortStart` on.
    private var shortBytes: [UInt8] = []
    private var shortStart = 0
    /// Bytes of short frames that were dropped, among `shortBytes`.
    private var droppedBytes = 0
    /// Bytes of memory that short frames take, dropped ones included.
    var shortMemory: Int { shortBytes.count }
    /// Short frames that were not dropped.
    private(set) var shortCount = 0
    private var lastOrder: UInt64 = 0
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

    private struct Waiting: Sendable {
        var frame: Frame
        /// Its place among all data frames.
        var order: UInt64
    }

    /// A short frame whose bytes are among `shortBytes`.
    private struct Short: Sendable {
        var order: UInt64
        var call: UInt64
        /// Bytes of the body.
        var size: Int
        var kind: Frame.Kind
        /// Whether it is not to be sent after all. Its bytes stay where they are until its turn.
        var isDropped = false

        /// Bytes on the wire.
        var wireSize: Int { 4 + Frame.headerSize + size }
    }

    /// - Parameter window: bytes of data that the other side takes before it grants more.
    package init(window: Int) {
        credit = window
    }

    package var isEmpty: Bool { count == 0 && grant == 0 }

    /// Whether nothing but short frames waits.
    var hasOnlyShorts: Bool { control.isEmpty && grant == 0 && data.isEmpty && held.isEmpty }

    /// Frames that wait.
    package var count: Int { control.count + data.count + shortCount + held.count }

    /// Control frames that wait.
    package var controlCount: Int { control.count }

    package var queuedBytes: Int { calls.bytes + answers.bytes }

    package mutating func append(_ frame: consuming Frame) {
        switch frame.kind {
        case .call, .reply, .failure:
            if frame.tail == nil, frame.body.readableBytes <= Outbox.shortLimit {
                let (kind, call) = (frame.kind, frame.call)
                return frame.body.withUnsafeReadableBytes { append(short: kind, call, $0) }
            }
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

    /// Appends a data frame with a short body.
    mutating func append(short kind: Frame.Kind, _ call: UInt64, _ body: UnsafeRawBufferPointer) {
        appendHead(kind, call, size: body.count)
        shortBytes.append(contentsOf: body)
    }

    /// Does the same for a body in which `word` takes the place of four bytes, big-endian.
    mutating func append(
        short kind: Frame.Kind, _ call: UInt64, _ body: UnsafeRawBufferPointer, word: UInt32, at offset: Int
    ) {
        append(short: kind, call, body)
        guard offset >= 0, offset + 4 <= body.count else { return }
        let place = shortBytes.count - body.count + offset
        shortBytes.withUnsafeMutableBytes { $0.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt32.self) }
    }

    /// Appends what comes before the body of a short frame.
    private mutating func appendHead(_ kind: Frame.Kind, _ call: UInt64, size: Int) {
        lastOrder += 1
        shorts.append(Short(order: lastOrder, call: call, size: size, kind: kind))
        shortCount += 1
        count(kind, isCut: false, size)
        if kind != .call { answerCount += 1 }
        // The length, the kind, no flags and the call's number; the last two bytes are not part of the header.
        let length = UInt64(truncatingIfNeeded: Frame.headerSize + size)
        let words = ((length << 32 | UInt64(kind.rawValue) << 24 | call >> 48).bigEndian, (call << 16).bigEndian)
        withUnsafeBytes(of: words) { words in
            shortBytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: words[..<(4 + Frame.headerSize)]))
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
        guard frame.isCut else { return appendData(frame) }
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
        appendData(frame)
    }

    private mutating func appendData(_ frame: consuming Frame) {
        lastOrder += 1
        data.append(Waiting(frame: frame, order: lastOrder))
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
        if let index = shorts.firstIndex(where: { $0.kind == .call && $0.call == call && !$0.isDropped }) {
            shorts[index].isDropped = true
            shortCount -= 1
            droppedBytes += shorts[index].wireSize
            count(.call, isCut: false, -shorts[index].size)
            // Without credit nothing is taken from the front, and a caller may go on making calls and cancelling them.
            if droppedBytes > Outbox.movedLimit, droppedBytes > (shortBytes.count - shortStart) / 2 { removeDropped() }
        } else if let index = data.firstIndex(where: { $0.frame.kind == .call && $0.frame.call == call }) {
            let frame = data.remove(at: index).frame
            count(.call, isCut: frame.isCut, -frame.bodySize)
            finishBody(.call, call)
        } else if let index = held.firstIndex(where: { $0.kind == .call && $0.call == call }) {
            let frame = held.remove(at: index)
            count(.call, isCut: frame.isCut, -frame.bodySize)
        }
    }

    /// Gives back the memory of short frames that were dropped.
    private mutating func removeDropped() {
        var place = shortStart
        var bytes: [UInt8] = []
        var living: Deque<Short> = []
        for short in shorts {
            if !short.isDropped {
                bytes.append(contentsOf: shortBytes[place..<place + short.wireSize])
                living.append(short)
            }
            place += short.wireSize
        }
        (shorts, shortBytes, shortStart, droppedBytes) = (living, bytes, 0, 0)
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
        var calls = Set(data.lazy.map(\.frame).filter { $0.kind == .call }.map(\.call))
        calls.formUnion(held.lazy.filter { $0.kind == .call }.map(\.call))
        calls.formUnion(shorts.lazy.filter { $0.kind == .call && !$0.isDropped }.map(\.call))
        return calls
    }

    /// The next frame to write, at most one piece long; `nil` where nothing waits, or where only data waits and has no credit.
    package mutating func next() -> Frame? {
        if let frame = nextControl() { return frame }
        guard isShortNext else { return nextLong() }
        var bytes: [UInt8] = []
        takeShorts(&bytes, upTo: 1)
        // There may have been only dropped ones.
        guard !bytes.isEmpty else { return isShortNext ? nil : nextLong() }
        var decoder = FrameDecoder(limit: FrameLimits.data)
        decoder.append(ByteBuffer(bytes: bytes))
        return try? decoder.next()
    }

    /// Whether a short frame is the next of the data.
    private var isShortNext: Bool {
        guard let short = shorts.first else { return false }
        return data.first.map { short.order < $0.order } ?? true
    }

    /// Moves what may be written now into `batch`, in its order, about `bytes` at most.
    mutating func take(_ batch: inout OutgoingBatch, bytes: Int) {
        var taken = 0
        while taken < bytes {
            if let frame = nextControl() {
                taken += 4 + frame.length
                batch.append(frame)
            } else if isShortNext {
                let count = batch.appendShorts { takeShorts(&$0, upTo: bytes - taken) }
                if count == 0, isShortNext { return }
                taken += count
            } else if let frame = nextLong() {
                taken += 4 + frame.length
                batch.append(frame)
            } else {
                return
            }
        }
    }

    private mutating func nextControl() -> Frame? {
        if grant > 0 {
            defer { grant = 0 }
            return Frame(.grant, body: ByteBuffer(integer: grant))
        }
        guard let frame = control.popFirst() else { return nil }
        if frame.kind == .pong { hasPong = false }
        return frame
    }

    /// Moves the bytes of short frames behind `run`: those that are next, have credit, and are not dropped.
    ///
    /// - Parameter bytes: with so many bytes there are enough; one frame is moved in any case.
    private mutating func takeShorts(_ run: inout [UInt8], upTo bytes: Int) {
        let limit = data.first?.order ?? .max
        var taken = 0
        // What of that has not been moved yet.
        var length = 0
        while let short = shorts.first, short.order < limit {
            if short.isDropped {
                moveShorts(length, into: &run)
                length = 0
                shortStart += short.wireSize
                droppedBytes -= short.wireSize
            } else {
                // The check assumes the longest header, as that of the other frames does.
                guard Frame.longestHeader + short.size <= credit, taken < bytes else { break }
                taken += short.wireSize
                length += short.wireSize
                credit -= Frame.headerSize + short.size
                shortCount -= 1
                count(short.kind, isCut: false, -short.size)
                if short.kind != .call { answerCount -= 1 }
            }
            shorts.removeFirst()
        }
        moveShorts(length, into: &run)
        if shorts.isEmpty {
            shortBytes.removeAll(keepingCapacity: true)
            shortStart = 0
        } else if shortStart > Outbox.movedLimit, shortStart > shortBytes.count / 2 {
            shortBytes.removeFirst(shortStart)
            shortStart = 0
        }
    }

    /// Bytes of short frames that have left and are in memory still, where many others wait.
    private static let movedLimit = 64 * 1024

    private mutating func moveShorts(_ length: Int, into run: inout [UInt8]) {
        guard length > 0 else { return }
        if run.isEmpty, shortStart == 0, length == shortBytes.count {
            // All of them are moved, as mostly, and so is the memory. That of `run` is used from now on.
            swap(&run, &shortBytes)
        } else {
            run.append(contentsOf: shortBytes[shortStart..<shortStart + length])
            shortStart += length
        }
    }

    /// The next data frame that is not short.
    private mutating func nextLong() -> Frame? {
        guard let size = data.first.map({ min($0.frame.bodySize, FrameLimits.piece) }),
            // The check assumes the longest header.
            Frame.longestHeader + size <= credit
        else { return nil }
        var first = data.removeFirst().frame
        count(first.kind, isCut: first.isCut, -size)
        guard first.bodySize > size else {
            if first.kind != .call { answerCount -= 1 }
            credit -= first.length
            finishBody(first.kind, first.call)
            return first
        }
        let piece = first.takePiece(size)
        credit -= piece.length
        appendData(first)
        return piece
    }
}
