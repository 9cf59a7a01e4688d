import NIOCore

@testable import Transport

/// A stream of bytes cut into frames. The frames and the failure are the same however the bytes come in, and together the frames
/// are exactly the bytes that were taken, but for those of kinds that a reader skips. Long frames come out in pieces, which are
/// put together here before they are compared.
enum FrameTarget: FuzzTarget {
    static let name = "frames"

    private struct Outcome: Equatable {
        var frames: [Frame] = []
        var failure: FrameDecoder.Failure?

        /// Takes the next frame, or the next piece of the one before.
        mutating func add(_ frame: Frame) {
            var frame = frame
            if frame.flags.contains(.continued), var last = frames.popLast() {
                require(last.kind == frame.kind && last.call == frame.call, "pieces of one frame")
                require(last.flags.contains(.more), "a piece that is not the last says so")
                last.body.writeImmutableBuffer(frame.body)
                if !frame.flags.contains(.more) { last.flags.remove(.more) }
                frame = last
            } else if !frame.flags.contains(.sized) {
                // The total is a hint here, and is not compared.
                frame.total = 0
            }
            frames.append(frame)
        }
    }

    static func run(_ input: FuzzInput) {
        var input = input
        let limit = input.choice(of: [FrameLimits.handshake, 10, 64, FrameLimits.data])
        let raised = input.bool() ? FrameLimits.data : limit
        let wholeLimit = input.choice(of: [FrameDecoder.wholeLimit, 14, 40])
        let seed = input.byte()
        var cuts = CutPoints(seed: seed)
        let stream = input.rest()

        func decode(_ pieces: [ByteBuffer], drainsLate: Bool) -> Outcome {
            let decoder = FrameDecoder(limit: limit, wholeLimit: wholeLimit)
            return FrameTarget.decode(pieces, decoder, raised: raised, drainsLate: drainsLate)
        }
        let whole = decode([ByteBuffer(bytes: stream)], drainsLate: false)
        let pieces = cuts.cut(stream)
        let cut = decode(pieces, drainsLate: seed & 1 == 1)
        require(cut == whole, "cut into \(pieces.map(\.readableBytes)): \(cut), whole: \(whole)")
        check(whole, stream, limit: limit, raised: raised, wholeLimit: wholeLimit)
    }

    private static func decode(
        _ pieces: [ByteBuffer], _ decoder: FrameDecoder, raised: Int, drainsLate: Bool
    ) -> Outcome {
        var decoder = decoder
        var outcome = Outcome()
        func drain() {
            do {
                while let frame = try decoder.next() {
                    outcome.add(frame)
                    // A link does this after the hello.
                    decoder.limit = raised
                }
            } catch {
                outcome.failure = error
            }
        }
        for piece in pieces {
            decoder.append(piece)
            if !drainsLate { drain() }
            if outcome.failure != nil { return outcome }
        }
        drain()
        return outcome
    }

    private static func check(_ outcome: Outcome, _ stream: [UInt8], limit: Int, raised: Int, wholeLimit: Int) {
        var rest = stream[...]
        for (index, frame) in outcome.frames.enumerated() {
            skipOptional(&rest, limit: index == 0 ? limit : raised)
            let isLast = index == outcome.frames.count - 1
            let kindLimit = frame.kind.isControl ? FrameLimits.control : FrameLimits.data
            require(frame.length <= min(kindLimit, index == 0 ? limit : raised), "a frame within its limit")
            var written = ByteBuffer()
            frame.write(into: &written)
            var bytes = written.array
            var taken = Array(rest.prefix(bytes.count))
            require(taken.count == bytes.count, "no more than has come")
            // Only the flags that mean something are kept; a long frame that is cut says that more follow.
            taken[5] &= Frame.Flags.onWire.rawValue
            if isLast, bytes[..<4] != taken[..<4] || bytes[5] != taken[5] {
                bytes.replaceSubrange(0..<6, with: taken[..<6])
            }
            require(taken == bytes, "the frames are the bytes that were taken")
            rest = rest.dropFirst(bytes.count)
        }
        guard outcome.failure == nil else { return }
        skipOptional(&rest, limit: outcome.frames.isEmpty ? limit : raised)
        guard rest.count >= 4 else { return }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        require(rest.count < 4 + length, "no whole frame is held back")
        guard rest.count >= 18, length > wholeLimit, let kind = Frame.Kind(rawValue: rest[rest.startIndex + 4]) else {
            return
        }
        require(kind.isControl, "a long frame is not held back")
    }

    /// Steps over whole frames of kinds that a reader skips once the handshake is done.
    private static func skipOptional(_ rest: inout ArraySlice<UInt8>, limit: Int) {
        while limit > FrameLimits.handshake, rest.count >= 5, rest[rest.startIndex + 4] >= Frame.Kind.firstOptional {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard (Frame.headerSize...FrameLimits.control).contains(length), rest.count >= 4 + length else { return }
            rest = rest.dropFirst(4 + length)
        }
    }

    static func seeds() throws -> [[UInt8]] {
        var hello = ByteBuffer()
        try Handshake.frame(Samples.hello).write(into: &hello)
        var stream = hello
        for frame in try Samples.callFrames() { frame.write(into: &stream) }
        var pieces = hello
        Frame(.reply, flags: .more, call: 3, body: ByteBuffer(repeating: 1, count: 20)).write(into: &pieces)
        Frame(.ping).write(into: &pieces)
        Frame(.reply, call: 3, body: ByteBuffer(repeating: 2, count: 30)).write(into: &pieces)
        // A frame of a kind that only a later version knows.
        var later = hello
        later.writeMultipleIntegers(UInt32(Frame.headerSize + 3), UInt8(200), UInt8(0), UInt64(0))
        later.writeBytes([1, 2, 3])
        Frame(.ping).write(into: &later)
        return [hello, stream, pieces, later].flatMap { bytes in
            [[0, 1, 0, 0], [3, 0, 1, 7], [2, 1, 2, 255]].map { $0 + bytes.array }
        }
    }
}

/// Where a stream is cut: the same places for the same seed.
struct CutPoints {
    private var state: UInt64

    init(seed: UInt8) {
        state = UInt64(seed)
    }

    mutating func cut(_ stream: [UInt8]) -> [ByteBuffer] {
        let whole = ByteBuffer(bytes: stream)
        var pieces: [ByteBuffer] = []
        var start = 0
        while start < stream.count {
            // This is Knuth's generator (The Art of Computer Programming 2, 3.3.4).
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let bits = state >> 33
            let count = min(stream.count - start, 1 + Int(bits & 3 == 0 ? bits >> 2 & 7 : bits >> 2 & 127))
            // Some pieces are slices of memory that others hold too, and some have memory of their own.
            if bits & 512 == 0 {
                pieces.append(ByteBuffer(bytes: stream[start..<start + count]))
            } else if let slice = whole.getSlice(at: start, length: count) {
                pieces.append(slice)
            }
            start += count
        }
        return pieces
    }
}
