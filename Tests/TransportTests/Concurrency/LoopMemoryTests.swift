import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite struct LoopMemoryTests {
    private func address(_ buffer: ByteBuffer) -> UInt {
        buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    }

    @Test(arguments: [100, 100_000]) func `memory that nobody uses is used again`(size: Int) {
        let memory = LoopMemory.of(EmbeddedEventLoop())
        var first: ByteBuffer? = memory.take(size)
        let place = first.map(address)
        first?.writeRepeatingByte(1, count: size)
        first.map(memory.keep)
        first = nil
        let second = memory.take(size)
        #expect(second.readableBytes == 0 && second.writableBytes >= size)
        #expect(address(second) == place)
    }

    @Test(arguments: [100, 100_000]) func `memory that somebody uses stays as it is`(size: Int) {
        let memory = LoopMemory.of(EmbeddedEventLoop())
        var first = memory.take(size)
        first.writeRepeatingByte(1, count: size)
        memory.keep(first)
        var second = memory.take(size)
        second.writeRepeatingByte(2, count: size)
        #expect(first == ByteBuffer(repeating: 1, count: size))
        #expect(address(first) != address(second))
    }

    @Test func `scratch buffers come back empty`() {
        _ = ScratchBuffers.with { $0.writeString("something of another call") }
        for _ in 0..<10 { ScratchBuffers.with { #expect($0.readableBytes == 0) } }
    }
}
