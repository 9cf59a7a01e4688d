import NIOCore
import Testing

@testable import Transport

@Suite struct FrameDecoderTests {
    private func bytes(_ frames: Frame...) -> ByteBuffer {
        var buffer = ByteBuffer()
        for frame in frames { frame.write(into: &buffer) }
        return buffer
    }

    @Test func `a frame comes out as it went in`() throws {
        let frame = Frame(.call, flags: .more, call: 77, body: ByteBuffer(string: "hello"))
        var decoder = FrameDecoder()
        decoder.append(bytes(frame))
        #expect(try decoder.next() == frame)
        #expect(try decoder.next() == nil)
    }

    @Test func `frames that arrive byte by byte are put together`() throws {
        let first = Frame(.ping)
        let second = Frame(.reply, call: 3, body: ByteBuffer(repeating: 9, count: 300))
        var decoder = FrameDecoder()
        var seen: [Frame] = []
        for byte in bytes(first, second).readableBytesView {
            decoder.append(ByteBuffer(bytes: [byte]))
            while let frame = try decoder.next() { seen.append(frame) }
        }
        #expect(seen == [first, second])
    }

    @Test(arguments: [UInt32(4097), .max, 0x7FFF_FFFF])
    func `a length beyond the limit is refused before its bytes come`(
        length: UInt32
    ) {
        var decoder = FrameDecoder(limit: 4096)
        decoder.append(ByteBuffer(integer: length))
        #expect(throws: FrameDecoder.Failure.tooLong(length: Int(length), limit: 4096)) { try decoder.next() }
    }

    @Test func `a length shorter than the header is refused`() {
        var decoder = FrameDecoder()
        decoder.append(ByteBuffer(integer: UInt32(9)))
        #expect(throws: FrameDecoder.Failure.tooShort(length: 9)) { try decoder.next() }
    }

    @Test func `an unknown kind is refused`() {
        var buffer = bytes(Frame(.ping))
        buffer.setInteger(UInt8(200), at: 4)
        var decoder = FrameDecoder()
        decoder.append(buffer)
        #expect(throws: FrameDecoder.Failure.unknownKind(200)) { try decoder.next() }
    }

    @Test func `a frame of a kind that may be skipped is skipped, however it arrives`() throws {
        var strange = bytes(Frame(.ping, body: ByteBuffer(string: "news of a later version")))
        strange.setInteger(UInt8(200), at: 4)
        var all = bytes(Frame(.ping))
        for _ in 0..<2 { all.writeImmutableBuffer(strange) }
        all.writeImmutableBuffer(bytes(Frame(.pong)))
        for step in [1, 7, 1000] {
            var decoder = FrameDecoder(limit: FrameLimits.data)
            var kinds: [Frame.Kind] = []
            var rest = all
            while let part = rest.readSlice(length: min(step, rest.readableBytes)), part.readableBytes > 0 {
                decoder.append(part)
                while let frame = try decoder.next() { kinds.append(frame.kind) }
            }
            #expect(kinds == [.ping, .pong], "in parts of \(step)")
        }
    }

    @Test func `a long frame that may be skipped is awaited, and is no long data frame`() throws {
        let length = FrameLimits.control
        #expect(length > FrameDecoder.wholeLimit)
        var decoder = FrameDecoder(limit: FrameLimits.data)
        var start = ByteBuffer(integer: UInt32(length))
        start.writeBytes([200] + [UInt8](repeating: 0, count: 100))
        decoder.append(start)
        #expect(try decoder.next() == nil)
        decoder.append(ByteBuffer(repeating: 0, count: length + 4 - start.readableBytes))
        #expect(try decoder.next() == nil)
        decoder.append(bytes(Frame(.ping)))
        #expect(try decoder.next()?.kind == .ping)
    }

    @Test(arguments: [UInt32(9), UInt32(FrameLimits.control) + 1])
    func `a frame that may be skipped has the limit of a control frame`(length: UInt32) {
        var decoder = FrameDecoder(limit: FrameLimits.data)
        decoder.append(ByteBuffer(integer: length))
        decoder.append(ByteBuffer(bytes: [128]))
        #expect(throws: FrameDecoder.Failure.self) { try decoder.next() }
    }

    @Test(arguments: [4, 5, 14])
    func `a length beyond every limit fails in the same words, however much has come`(count: Int) {
        let length = UInt32(FrameLimits.data) + 1
        var all = ByteBuffer(integer: length)
        all.writeBytes([128] + [UInt8](repeating: 0, count: 9))
        var decoder = FrameDecoder(limit: FrameLimits.data)
        decoder.append(all.getSlice(at: 0, length: count) ?? all)
        #expect(throws: FrameDecoder.Failure.tooLong(length: Int(length), limit: FrameLimits.data)) {
            try decoder.next()
        }
    }

    @Test func `a control frame has a limit of its own`() {
        var decoder = FrameDecoder(limit: FrameLimits.data)
        decoder.append(bytes(Frame(.peers, body: ByteBuffer(repeating: 0, count: FrameLimits.control))))
        #expect(throws: FrameDecoder.Failure.self) { try decoder.next() }
    }

    @Test func `random bytes end in frames, in waiting or in a refusal`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            var decoder = FrameDecoder(limit: 64)
            let count = Int.random(in: 0...80, using: &generator)
            decoder.append(ByteBuffer(bytes: (0..<count).map { _ in UInt8.random(in: 0...40, using: &generator) }))
            while let frame = try? decoder.next() { #expect(frame.body.readableBytes <= 64) }
        }
    }
}
