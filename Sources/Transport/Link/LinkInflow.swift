import NIOCore

/// The bytes that come in on one connection, turned into frames and whole bodies, as a value; and what the peer may still send.
struct LinkInflow {
    /// The sizes of a read that is copied out of its buffer, in bytes. A small read is copied, so that the socket reads into the
    /// same memory again. A tiny one is not, because then the socket's memory is no larger.
    private static let copied = 513...16 * 1024

    private var decoder = FrameDecoder()
    private var assembler: BodyAssembler
    private var window: ReceiveWindow
    /// Bytes taken in that are not granted again while too much waits to be decoded.
    private var ungranted = 0

    init(_ limits: LinkLimits) {
        assembler = BodyAssembler(bodyLimit: Int(clamping: limits.body))
        window = ReceiveWindow(size: Int(clamping: limits.window))
    }

    /// Allows the longer frames that follow a handshake.
    mutating func open() { decoder.limit = FrameLimits.data }

    /// - Parameter isShared: whether the reader goes on using the memory of the bytes. TLS does: it decrypts into one buffer for
    ///   ever, and that buffer grows with the bytes that have come at once.
    mutating func append(_ bytes: ByteBuffer, isShared: Bool) {
        decoder.append(bytes, isLent: isShared || LinkInflow.copied.contains(bytes.readableBytes))
    }

    /// The next frame, in its order; `nil` where it is not complete.
    ///
    /// - Throws: an error where the bytes are not a frame. Then there is no way to find the next one.
    mutating func nextFrame() throws -> Frame? { try decoder.next() }

    /// Notes that a call, a reply or a failure has come in, or a piece of one.
    ///
    /// - Returns: whether it is whole and taken as it is; otherwise it goes to `add`.
    /// - Throws: `ReceiveWindow.Exceeded` where the peer sends more than it may.
    mutating func receive(_ frame: borrowing Frame) throws -> Bool {
        try window.received(frame.length)
        // The bytes are granted at the end of the read, together with all others that have come.
        ungranted += frame.length
        return assembler.passes(frame)
    }

    /// Takes a piece that was received.
    ///
    /// - Throws: `BodyAssembler.Failure` where the peer sends more than it may.
    mutating func add(_ frame: Frame, _ memory: LoopMemory?) throws -> BodyAssembler.Result {
        try assembler.add(frame, memory)
    }

    /// Drops the pieces of a call that was cancelled before it was whole.
    mutating func forget(call: UInt64) { assembler.forget(call: call) }

    /// The number of bytes that the peer may send in place of those taken in; `nil` where it is not yet time to tell the peer.
    mutating func grant() -> UInt32? {
        guard ungranted > 0 else { return nil }
        defer { ungranted = 0 }
        return window.consumed(ungranted)
    }

    /// Whether something has been taken in that is not granted again.
    var hasUngranted: Bool { ungranted > 0 }
}
