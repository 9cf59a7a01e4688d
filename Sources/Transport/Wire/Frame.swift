package import NIOCore

/// The unit of the wire: one message, or one piece of a long one.
///
///     length  UInt32   bytes that follow: 10, or 14 with a total, + body
///     kind    UInt8
///     flags   UInt8
///     call    UInt64   which call a call, reply, error or cancel belongs to; 0 elsewhere
///     total   UInt32   only with the flag `sized`: the length of the whole body
///     body
///
/// All integers are big-endian. `docs/PROTOCOL.md` describes the bodies.
package struct Frame: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case hello = 1
        case refusal = 2
        case ping = 3
        case pong = 4
        case call = 5
        case reply = 6
        case failure = 7
        case cancel = 8
        case peers = 9
        case goodbye = 10
        /// Gives a target an index for the rest of the link.
        case declare = 11
        /// Lets the other side send more data.
        case grant = 12
        /// The sender uses another link and has no calls under way on this one.
        case giveWay = 13
        /// Whether the sender takes new work.
        case draining = 14

        /// Kinds from here on are control frames that a reader skips where it does not know them, so that a later version may say
        /// more to readers that know them.
        static let firstOptional: UInt8 = 128

        /// Control frames overtake data: a heartbeat never waits behind a picture.
        package var isControl: Bool {
            switch self {
            case .call, .reply, .failure: false
            default: true
            }
        }
    }

    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// More pieces of this body follow under the same call id.
        package static let more = Flags(rawValue: 1)
        /// The first piece of a long body: the header says how long the whole is.
        package static let sized = Flags(rawValue: 2)
        /// A further piece of a frame whose header was counted with the first piece. This flag is never on the wire.
        static let continued = Flags(rawValue: 128)
        /// The flags that a peer may set; others of a newer version mean nothing here.
        static let onWire: Flags = [.more, .sized]
    }

    package var kind: Kind
    package var flags: Flags
    package var call: UInt64
    /// The length of the whole body; 0 where the frame does not say it.
    package var total: UInt32 = 0
    package var body: ByteBuffer
    /// What follows `body` in the body of a frame that is sent: a long payload that has memory of its own and need not be copied.
    /// Frames that were received have none.
    ///
    /// A missing payload is `nil` and not an empty buffer: all empty buffers of a process share one reference count, and all
    /// threads would count every copy of every frame on it.
    package var tail: FrameTail?
    /// Whether the body is sent in pieces; the outbox decides.
    var isCut = false

    package init(_ kind: Kind, flags: Flags = [], call: UInt64 = 0, body: ByteBuffer = ByteBuffer()) {
        self.kind = kind
        self.flags = flags
        self.call = call
        self.body = body
    }

    /// Bytes of `kind`, `flags` and `call`, which `length` counts too.
    static let headerSize = 10
    /// The bytes of the same header with `total`.
    static let longestHeader = 14

    /// The value of the field `length`. It is also what counts against a window.
    var length: Int {
        if flags.contains(.continued) { return bodySize }
        return (flags.contains(.sized) ? Frame.longestHeader : Frame.headerSize) + bodySize
    }

    var bodySize: Int { body.readableBytes + (tail?.readableBytes ?? 0) }

    /// Takes the first `size` bytes out of the body, which has at least as many.
    mutating func takePiece(_ size: Int) -> Frame {
        var piece = Frame(kind, flags: .more, call: call)
        let fromBody = min(size, body.readableBytes)
        piece.body = body.readSlice(length: fromBody) ?? ByteBuffer()
        if let whole = tail {
            let (first, others) = whole.split(at: size - fromBody)
            piece.tail = first
            tail = others
        }
        if total > 0 {
            piece.flags.insert(.sized)
            piece.total = total
            total = 0
        }
        return piece
    }

    /// Appends the frame as it goes over the wire.
    package func write(into buffer: inout ByteBuffer) {
        writeHeader(into: &buffer)
        buffer.writeImmutableBuffer(body)
        tail?.write(into: &buffer)
    }

    /// Appends everything before the body, as one store.
    func writeHeader(into buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(UInt32(truncatingIfNeeded: length), kind.rawValue, flags.rawValue, call)
        if flags.contains(.sized) { buffer.writeInteger(total) }
    }
}
