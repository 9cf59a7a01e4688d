import NIOCore

/// What comes in on one connection, from bytes to frames and whole bodies, as a value; and what the peer may send further.
struct LinkInflow {
    /// How much comes in at once where it is copied out of the buffer that it was read into: a little, so that the socket reads into
    /// the same memory again, but not next to nothing, because then the socket's memory is no larger.
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

    /// From now on there are longer frames than those of a handshake.
    mutating func open() { decoder.limit = FrameLimits.data }

    /// - Parameter isShared: whether whoever reads goes on to use the memory of the bytes, as TLS does, which decrypts into one buffer
    ///   for ever: it grows with what has come at once.
    mutating func append(_ bytes: ByteBuffer, isShared: Bool) {
        decoder.append(bytes, isLent: isShared || LinkInflow.copied.contains(bytes.readableBytes))
    }

    /// The next frame, in its order; `nil` where it is not complete.
    ///
    /// - Throws: where the bytes are no frame. There is no way to find the next one then.
    mutating func nextFrame() throws -> Frame? { try decoder.next() }

    /// Takes a call, a reply or a failure, or a piece of one.
    ///
    /// - Throws: `ReceiveWindow.Exceeded`, `BodyAssembler.Failure` where the peer sends more than it may.
    mutating func add(_ frame: Frame) throws -> BodyAssembler.Result {
        try window.received(frame.length)
        // Granted at the end of the read, with what else has come.
        ungranted += frame.length
        return try assembler.add(frame)
    }

    /// Lets go of the pieces of a call that was cancelled before it was whole.
    mutating func forget(call: UInt64) { assembler.forget(call: call) }

    /// The bytes that the peer may send in place of those taken in, where it is time to tell it.
    mutating func grant() -> UInt32? {
        guard ungranted > 0 else { return nil }
        defer { ungranted = 0 }
        return window.consumed(ungranted)
    }

    /// Whether something has been taken in that is not granted again.
    var hasUngranted: Bool { ungranted > 0 }
}
