import NIOCore
import Testing

@testable import Transport

@Suite struct ReceiveWindowTests {
    @Test func `received bytes are granted again, a quarter of the window at a time`() throws {
        var window = ReceiveWindow(size: 1000)
        try window.received(240)
        #expect(window.consumed(240) == nil)
        try window.received(20)
        #expect(window.consumed(20) == 260)
        for _ in 0..<100 {
            try window.received(500)
            #expect(window.consumed(500) == 500)
        }
    }

    @Test func `a peer that sends more than it was granted is detected`() throws {
        var window = ReceiveWindow(size: 1000)
        try window.received(1000)
        #expect(throws: ReceiveWindow.Exceeded.self) { try window.received(1) }
    }

    @Test func `sender and receiver agree for any mixture of frames`() throws {
        var generator = SeededGenerator(seed: 20_261_121)
        var outbox = Outbox(window: 4 * FrameLimits.piece)
        var window = ReceiveWindow(size: 4 * FrameLimits.piece)
        var left = 300
        var received = 0
        while left > 0 || !outbox.isEmpty {
            if left > 0, Bool.random(using: &generator) {
                left -= 1
                let size = Int.random(in: 0...(3 * FrameLimits.piece), using: &generator)
                outbox.append(Frame(.reply, call: UInt64(left), body: ByteBuffer(repeating: 0, count: size)))
            }
            while let frame = outbox.next() {
                try window.received(frame.length)
                if !frame.flags.contains(.more) { received += 1 }
                if let grant = window.consumed(frame.length) { #expect(outbox.granted(grant) == true) }
            }
        }
        #expect(received == 300)
    }
}
