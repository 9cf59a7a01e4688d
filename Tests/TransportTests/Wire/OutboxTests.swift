import NIOCore
import Testing

@testable import Transport

@Suite struct OutboxTests {
    @Test func `a ping overtakes a picture`() {
        var outbox = Outbox()
        outbox.append(Frame(.reply, call: 1, body: ByteBuffer(repeating: 1, count: 3 * FrameLimits.piece)))
        #expect(outbox.next()?.kind == .reply)
        outbox.append(Frame(.ping))
        #expect(outbox.next()?.kind == .ping)
        #expect(outbox.next()?.kind == .reply)
    }

    @Test func `long bodies are cut into pieces that take turns`() {
        var outbox = Outbox()
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
        var outbox = Outbox()
        outbox.append(Frame(.reply, call: 5, body: body))
        outbox.append(Frame(.reply, call: 6, body: ByteBuffer(string: "short")))
        var assembler = BodyAssembler()
        var whole: [Frame] = []
        while let piece = outbox.next() {
            if let frame = try assembler.add(piece) { whole.append(frame) }
        }
        #expect(whole.map(\.call) == [6, 5])
        #expect(whole.last?.body == body)
        #expect(assembler.heldBytes == 0)
    }

    @Test func `a call that is cancelled before it has left is not made`() {
        var outbox = Outbox()
        outbox.append(Frame(.call, call: 1, body: ByteBuffer(repeating: 0, count: 2 * FrameLimits.piece)))
        outbox.append(Frame(.call, call: 2))
        #expect(outbox.next()?.call == 1, "its first piece has left")
        outbox.append(Frame(.cancel, call: 1))
        #expect(outbox.next()?.kind == .cancel)
        #expect(outbox.next()?.call == 2)
        #expect(outbox.isEmpty && outbox.queuedBytes == 0)
    }

    @Test func `pieces of a call that was cancelled are let go`() throws {
        var assembler = BodyAssembler()
        _ = try assembler.add(Frame(.call, flags: .more, call: 1, body: ByteBuffer(repeating: 0, count: 100)))
        assembler.forget(call: 1)
        #expect(assembler.heldBytes == 0)
    }

    @Test func `a body beyond the limit is refused while it comes in`() throws {
        var assembler = BodyAssembler()
        let piece = ByteBuffer(repeating: 0, count: FrameLimits.data)
        var refused = false
        for _ in 0...(FrameLimits.body / FrameLimits.data) + 1 where !refused {
            do { _ = try assembler.add(Frame(.reply, flags: .more, call: 1, body: piece)) } catch { refused = true }
        }
        #expect(refused)
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
