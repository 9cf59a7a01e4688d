import Base
import NIOCore
import Testing

@testable import Transport

@Suite struct OutboxTests {
    @Test func `a ping overtakes a picture`() {
        var outbox = Outbox(window: 1 << 30)
        outbox.append(Frame(.reply, call: 1, body: ByteBuffer(repeating: 1, count: 3 * FrameLimits.piece)))
        #expect(outbox.next()?.kind == .reply)
        outbox.append(Frame(.ping))
        #expect(outbox.next()?.kind == .ping)
        #expect(outbox.next()?.kind == .reply)
    }

    @Test func `long bodies are cut into pieces that take turns`() {
        var outbox = Outbox(window: 1 << 30)
        for call: UInt64 in [1, 2] {
            outbox.append(Frame(.call, call: call, body: ByteBuffer(repeating: 0, count: FrameLimits.piece + 1)))
        }
        var order: [UInt64] = []
        while let frame = outbox.next() {
            #expect(frame.body.readableBytes <= FrameLimits.piece)
            order.append(frame.call)
        }
        #expect(order == [1, 2, 1, 2])
        #expect(outbox.queuedBytes == 0)
    }

    @Test func `what goes out in pieces comes in whole`() throws {
        var body = ByteBuffer()
        for number in 0..<300_000 { body.writeInteger(UInt32(number)) }
        var outbox = Outbox(window: 1 << 30)
        outbox.append(Frame(.reply, call: 5, body: body))
        outbox.append(Frame(.reply, call: 6, body: ByteBuffer(string: "short")))
        var assembler = BodyAssembler()
        var whole: [Frame] = []
        while let piece = outbox.next() {
            if case .whole(let frame) = try assembler.add(piece) { whole.append(frame) }
        }
        #expect(whole.map(\.call) == [6, 5])
        #expect(whole.last?.body == body)
        #expect(assembler.heldBytes == 0)
    }

    @Test func `a call that is cancelled before it has left is not made`() {
        var outbox = Outbox(window: 1 << 30)
        outbox.append(Frame(.call, call: 1, body: ByteBuffer(repeating: 0, count: 2 * FrameLimits.piece)))
        outbox.append(Frame(.call, call: 2))
        #expect(outbox.next()?.call == 1, "its first piece has left")
        outbox.append(Frame(.cancel, call: 1))
        #expect(outbox.next()?.kind == .cancel)
        #expect(outbox.next()?.call == 2)
        #expect(outbox.isEmpty && outbox.queuedBytes == 0)
    }

    @Test func `calls that are cancelled one after the other take no memory, although the peer grants nothing`() {
        var outbox = Outbox(window: Frame.longestHeader)
        // An answer is in front of them, waits for credit, and is never dropped.
        outbox.append(Frame(.reply, call: 1, body: ByteBuffer(repeating: 1, count: 100)))
        outbox.append(Frame(.call, call: 2, body: ByteBuffer(repeating: 2, count: 100)))
        for call: UInt64 in 3...5000 {
            outbox.append(Frame(.call, call: call, body: ByteBuffer(repeating: 0, count: 4000)))
            outbox.append(Frame(.cancel, call: call))
            let (first, second) = (outbox.next(), outbox.next())
            #expect(first?.kind == .cancel && second == nil)
            #expect(outbox.shortMemory < 200_000)
        }
        let isValid = outbox.granted(1 << 20)
        #expect(isValid)
        let rest = [outbox.next(), outbox.next(), outbox.next()]
        #expect(rest.map { $0?.call } == [1, 2, nil], "what was not dropped is still whole")
        #expect(rest[1]?.body == ByteBuffer(repeating: 2, count: 100))
        #expect(outbox.isEmpty && outbox.queuedBytes == 0)
    }

    @Test func `pieces of a cancelled call are dropped`() throws {
        var assembler = BodyAssembler()
        _ = try assembler.add(Frame(.call, flags: .more, call: 1, body: ByteBuffer(repeating: 0, count: 100)))
        assembler.forget(call: 1)
        #expect(assembler.heldBytes == 0)
    }

    @Test func `a body beyond the limit is refused once and the rest of it dropped`() throws {
        var assembler = BodyAssembler(bodyLimit: 1000)
        let piece = ByteBuffer(repeating: 0, count: 400)
        func add(_ flags: Frame.Flags) throws -> BodyAssembler.Result {
            try assembler.add(Frame(.call, flags: flags, call: 1, body: piece))
        }
        let first = try [add(.more), add(.more), add(.more)]
        #expect(first == [.incomplete, .incomplete, .tooLong(.call, call: 1)])
        #expect(assembler.heldBytes == 0)
        for _ in 0..<10_000 { #expect(try add(.more) == .incomplete) }
        #expect(try add([]) == .incomplete)
        #expect(assembler.heldBytes == 0)
        guard case .whole = try add([]) else { return #expect(Bool(false), "the next body is a new one") }
    }

    @Test func `data waits for credit and control frames do not`() {
        var outbox = Outbox(window: 100)
        outbox.append(Frame(.call, call: 1, body: ByteBuffer(repeating: 0, count: 60)))
        outbox.append(Frame(.call, call: 2, body: ByteBuffer(repeating: 0, count: 60)))
        #expect(outbox.next()?.call == 1)
        #expect(outbox.next() == nil)
        outbox.append(Frame(.ping))
        outbox.append(grant: 5)
        outbox.append(grant: 6)
        #expect(outbox.next()?.body == ByteBuffer(integer: UInt32(11)), "grants are added up")
        #expect(outbox.next()?.kind == .ping)
        #expect(outbox.next() == nil)
        #expect(outbox.unsentCalls == [2])
        #expect(outbox.granted(44) == true)
        #expect(outbox.next()?.call == 2)
        #expect(outbox.isEmpty)
    }

    @Test func `a flood of pings makes one answer`() {
        var outbox = Outbox(window: 100)
        for _ in 0..<1000 { outbox.append(Frame(.pong)) }
        #expect(outbox.controlCount == 1)
    }

    @Test func `one long body leaves room for more, and too many bytes leave none`() {
        var outbox = Outbox(window: 0)
        outbox.append(Frame(.call, call: 1, body: ByteBuffer(repeating: 0, count: FrameLimits.body - 1)))
        #expect(outbox.calls.hasRoom && outbox.answers.hasRoom)
        outbox.append(Frame(.call, call: 2, body: ByteBuffer(repeating: 0, count: FrameLimits.piece + 1)))
        #expect(!outbox.calls.hasRoom)
        outbox.append(Frame(.cancel, call: 1))
        #expect(outbox.calls.hasRoom)
        for call in 3...(3 + FrameLimits.uncutWaiting / FrameLimits.piece) {
            outbox.append(Frame(.reply, call: UInt64(call), body: ByteBuffer(repeating: 0, count: FrameLimits.piece)))
        }
        #expect(outbox.calls.hasRoom && !outbox.answers.hasRoom)
    }

    @Test(arguments: [false, true])
    func `a payload apart goes out behind its head, whole and in pieces`(fromArray: Bool) throws {
        for size in [10, FrameLimits.piece - 3, FrameLimits.piece, 3 * FrameLimits.piece + 7] {
            var frame = Frame(.reply, call: 1, body: ByteBuffer(string: "head"))
            let tail = ByteBuffer(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            var expected = frame.body
            expected.writeImmutableBuffer(tail)
            frame.tail = fromArray ? FrameTail(Array(tail.readableBytesView)) : FrameTail(tail)
            var outbox = Outbox(window: 1 << 30)
            outbox.append(frame)
            var wire = ByteBuffer()
            while let piece = outbox.next() { piece.write(into: &wire) }
            var decoder = FrameDecoder(limit: FrameLimits.data)
            var assembler = BodyAssembler()
            decoder.append(wire)
            var whole: Frame?
            while let piece = try decoder.next() {
                if case .whole(let frame) = try assembler.add(piece) { whole = frame }
            }
            #expect(whole?.body == expected)
            #expect(outbox.queuedBytes == 0)
        }
    }

    /// What is on the wire if all frames are taken out together, as the writer does.
    private func wire(_ outbox: inout Outbox, atOnce bytes: Int) -> ByteBuffer {
        var wire = ByteBuffer()
        var batch = OutgoingBatch()
        while true {
            outbox.take(&batch, bytes: bytes)
            if batch.isEmpty { return wire }
            var start = 0
            for part in batch.parts {
                switch part {
                case .frame(let frame): frame.write(into: &wire)
                case .shorts(let count):
                    wire.writeBytes(batch.shortBytes[start..<start + count])
                    start += count
                }
            }
            batch.clear()
        }
    }

    @Test func `frames that are taken out together are those that are taken out one by one`() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<200 {
            var outbox = Outbox(window: Int.random(in: 0...40_000, using: &random))
            for call in 1...UInt64.random(in: 1...40, using: &random) {
                let size =
                    [0, 17, 400, Outbox.shortLimit, Outbox.shortLimit + 1, 9000].randomElement(using: &random) ?? 0
                let kind = [Frame.Kind.call, .reply, .failure].randomElement(using: &random) ?? .call
                outbox.append(Frame(kind, call: call, body: ByteBuffer(repeating: UInt8(call), count: size)))
                if Int.random(in: 0..<6, using: &random) == 0 { outbox.append(Frame(.ping)) }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    outbox.append(Frame(.cancel, call: UInt64.random(in: 1...call, using: &random)))
                }
                if Int.random(in: 0..<5, using: &random) == 0 { _ = outbox.next() }
            }
            var other = outbox
            var expected = ByteBuffer()
            while let frame = other.next() { frame.write(into: &expected) }
            #expect(wire(&outbox, atOnce: Int.random(in: 1...20_000, using: &random)) == expected)
            #expect(outbox.count == other.count && outbox.queuedBytes == other.queuedBytes)
            #expect(outbox.unsentCalls == other.unsentCalls && outbox.answerCount == other.answerCount)

            for frames in [outbox.granted(1 << 20), other.granted(1 << 20)] { #expect(frames) }
            expected.clear()
            while let frame = other.next() { frame.write(into: &expected) }
            #expect(wire(&outbox, atOnce: 5000) == expected)
            #expect(outbox.isEmpty && outbox.queuedBytes == 0 && outbox.answerCount == 0)
        }
    }

    @Test func `a short call goes out with the index of its target`() throws {
        let target = CallTarget(actor: "a", method: "m")
        let body = try CallBody.make(target, index: 1, trace: 9, arguments: ["on"])
        var outbox = Outbox(window: 1 << 20)
        body.withUnsafeReadableBytes {
            outbox.append(short: .call, 3, $0, word: 77, at: CallRequest.indexOffset)
        }
        let next = outbox.next()
        let frame = try #require(next)
        let request = try #require(CallRequest(frame.body))
        #expect(frame.kind == .call && frame.call == 3)
        #expect(request.target == .index(77) && request.trace == 9 && request.count == 1)
        #expect(try #require(CallRequest(body)).arguments == request.arguments)
    }

    @Test func `no more long bodies are under way than the other side puts together`() throws {
        var outbox = Outbox(window: 1 << 30)
        var assembler = BodyAssembler()
        for call: UInt64 in 1...5 {
            outbox.append(Frame(.call, call: call, body: ByteBuffer(repeating: 0, count: FrameLimits.body - 1)))
        }
        var whole: [UInt64] = []
        while let piece = outbox.next() {
            if case .whole(let frame) = try assembler.add(piece) { whole.append(frame.call) }
        }
        #expect(whole.sorted() == [1, 2, 3, 4, 5])
        #expect(outbox.isEmpty && outbox.queuedBytes == 0)
    }

    @Test func `refused bodies cannot fill the memory with entries`() {
        // A header that says a length beyond the limit costs the peer 18 bytes, and an entry here.
        var assembler = BodyAssembler(bodyLimit: 1000)
        var refused = 0
        #expect(throws: BodyAssembler.Failure.self) {
            for call in 0...UInt64(FrameLimits.unfinishedBodies) {
                var frame = Frame(.call, flags: [.more, .sized], call: call)
                frame.total = 1001
                if case .tooLong = try assembler.add(frame) { refused += 1 }
            }
        }
        #expect(refused == FrameLimits.unfinishedBodies)
    }

    @Test func `the length of a whole body counts, whatever it claims`() throws {
        for hasOthers in [false, true] {
            var assembler = BodyAssembler(bodyLimit: 1000)
            if hasOthers { _ = try assembler.add(Frame(.call, flags: .more, call: 1)) }
            var frame = Frame(.call, flags: .sized, call: 2, body: ByteBuffer(string: "short"))
            frame.total = 1001
            #expect(try assembler.add(frame) == .whole(frame))
        }
    }

    @Test func `empty pieces cannot fill the memory with entries`() {
        var assembler = BodyAssembler()
        #expect(throws: BodyAssembler.Failure.self) {
            for call in 0...UInt64(FrameLimits.unfinishedBodies) {
                _ = try assembler.add(Frame(.call, flags: .more, call: call))
            }
        }
    }
}
