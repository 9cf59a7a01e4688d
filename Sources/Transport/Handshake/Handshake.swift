import Base
import NIOCore

/// The opening of a link, as a value: the side that dialled sends its hello, the other answers with its own or with
/// a refusal, and the first then accepts or refuses in turn. Nothing else may be sent before.
package struct Handshake {
    /// First bytes of a hello, so that a stray HTTP client or port scanner is recognised at once.
    package static let magic: [UInt8] = [0x53, 0x4B, 0x59, 0x4E]  // "SKYN"

    package enum Event {
        case connected
        case frame(Frame)
        case timedOut
    }

    package enum Action {
        case send(Frame)
        /// The link is up and speaks `version`. A side that cannot have it after all sends a refusal instead of the actions that
        /// follow.
        case establish(Hello, version: UInt16)
        /// Close the connection, after everything sent before has left.
        case close(HandshakeFailure)
    }

    private enum State {
        case start
        case awaitingHello
        case done
    }

    /// What this side says about itself.
    package let own: Hello
    private let dialled: Bool
    /// Refuses a peer for reasons that lie outside the handshake, such as a link that exists already.
    private let admit: (Hello) -> Refusal?
    private var state = State.start

    /// - Parameters:
    ///   - dialled: whether this side opened the connection.
    ///   - admit: asked once, when the peer's hello is otherwise good.
    package init(own: Hello, dialled: Bool, admit: @escaping (Hello) -> Refusal? = { _ in nil }) {
        self.own = own
        self.dialled = dialled
        self.admit = admit
    }

    package mutating func handle(_ event: Event) throws -> [Action] {
        switch (state, event) {
        case (.start, .connected):
            state = .awaitingHello
            return dialled ? [.send(try Handshake.frame(own))] : []
        case (.awaitingHello, .frame(let frame)):
            state = .done
            switch frame.kind {
            case .hello: return try received(frame)
            case .refusal: return [.close(.refusedByPeer(Handshake.refusal(in: frame)))]
            default: return try refuse(Refusal(.notThisProtocol, "the first frame was no hello"))
            }
        case (.awaitingHello, .timedOut), (.start, .timedOut):
            state = .done
            return [.close(.timedOut)]
        default:
            return []
        }
    }

    private func received(_ frame: Frame) throws -> [Action] {
        guard let versions = Handshake.versions(in: frame) else {
            return try refuse(Refusal(.notThisProtocol, "the first frame was no hello of this protocol"))
        }
        // The versions are compared before anything else of the hello is read: another version may say the rest in another way.
        guard versions.overlaps(own.versions) else {
            return try refuse(
                Refusal(
                    .version,
                    "\(own.name) speaks protocol \(own.minimumVersion) to \(own.maximumVersion), the other side "
                        + "\(versions.lowerBound) to \(versions.upperBound); upgrade the older one"))
        }
        guard let peer = Handshake.hello(in: frame) else {
            return try refuse(Refusal(.notThisProtocol, "the hello could not be read"))
        }
        if let refusal = check(peer) ?? admit(peer) { return try refuse(refusal) }
        let version = min(own.maximumVersion, peer.maximumVersion)
        let establish = Action.establish(peer, version: version)
        // This side's own hello comes only after that, because it gives the other side the link: two connections of one peer may
        // have been admitted at once.
        return dialled ? [establish] : [establish, .send(try Handshake.frame(own))]
    }

    private func check(_ peer: Hello) -> Refusal? {
        if peer.cluster != own.cluster {
            return Refusal(.cluster, "\(own.name) belongs to cluster \"\(own.cluster)\"")
        }
        if peer.node == own.node { return Refusal(.itself, "\(own.name) dialled itself") }
        return nil
    }

    private func refuse(_ refusal: Refusal) throws -> [Action] {
        [.send(try Handshake.frame(refusal)), .close(.refused(refusal))]
    }
}

/// Why a connection never became a link.
public enum HandshakeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    case timedOut
    /// This side said no.
    case refused(Refusal)
    /// The other side said no, in these words.
    case refusedByPeer(Refusal)
    /// The connection ended, or carried something that is not a frame.
    case broken(String)

    public var description: String {
        switch self {
        case .timedOut: "the other side did not say hello in time"
        case .refused(let refusal): "refused: \(refusal)"
        case .refusedByPeer(let refusal): "the other side refused: \(refusal)"
        case .broken(let why): why
        }
    }
}

extension HandshakeFailure {
    /// Whether a node has dialled itself.
    public var isOfItself: Bool {
        switch self {
        case .refused(let refusal), .refusedByPeer(let refusal): refusal.reason == .itself
        case .timedOut, .broken: false
        }
    }
}

extension Handshake {
    /// A hello: the magic, oldest and newest version spoken as two UInt16, then the value. The first two never
    /// change, so that any two versions can tell each other why they do not match.
    static func frame(_ hello: Hello) throws -> Frame {
        var body = ByteBuffer(bytes: magic)
        body.writeMultipleIntegers(hello.minimumVersion, hello.maximumVersion)
        try WireCoder.encode(hello, into: &body)
        return Frame(.hello, body: body)
    }

    static func frame(_ refusal: Refusal) throws -> Frame {
        Frame(.refusal, body: try WireCoder.encode(refusal))
    }

    /// The versions that the sender of a hello speaks, or `nil` where the bytes are no hello at all.
    static func versions(in frame: Frame) -> ClosedRange<UInt16>? {
        var body = frame.body
        guard body.readBytes(length: magic.count) == magic,
            let (oldest, newest) = body.readMultipleIntegers(as: (UInt16, UInt16).self), oldest <= newest
        else { return nil }
        return oldest...newest
    }

    /// The hello in a frame, or `nil` where the bytes are not one or its words are not fit to be shown.
    static func hello(in frame: Frame) -> Hello? {
        guard let versions = versions(in: frame) else { return nil }
        var body = frame.body
        body.moveReaderIndex(forwardBy: magic.count + 4)
        guard let hello = try? WireCoder.decode(Hello.self, from: body),
            // The bounds are compared one by one: a hello with its versions the wrong way round has no range to compare.
            hello.minimumVersion == versions.lowerBound, hello.maximumVersion == versions.upperBound,
            Hello.isValidName(hello.name), Hello.isValidName(hello.cluster), hello.limits.isReasonable
        else { return nil }
        if let advertised = hello.advertised, !advertised.isDialable { return nil }
        if let version = hello.version, !Hello.isValidName(version) { return nil }
        if let arithmetic = hello.arithmetic, !Hello.isValidArithmetic(arithmetic) { return nil }
        return hello
    }

    private static func refusal(in frame: Frame) -> Refusal {
        if let refusal = try? WireCoder.decode(Refusal.self, from: frame.body) {
            return Refusal(refusal.reason, PrintableText.of(refusal.text), by: refusal.node)
        }
        // A newer version may have a reason that this one does not know; its words are for people.
        if let words = try? WireCoder.decode(RefusalWords.self, from: frame.body) {
            return Refusal(.other, PrintableText.of(words.text))
        }
        return Refusal(.notThisProtocol, "a refusal that could not be read")
    }
}

/// The part of a refusal that every version has.
private struct RefusalWords: Decodable {
    var text: String
}
