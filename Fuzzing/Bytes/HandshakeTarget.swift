import NIOCore

@testable import Transport

/// The opening of a link against a peer that says anything in any order, and of two honest sides with each other.
enum HandshakeTarget: FuzzTarget {
    static let name = "handshake"

    static func run(_ input: FuzzInput) {
        var input = input
        if input.bool() {
            against(anyPeer: &input)
        } else {
            meet(hello(&input), hello(&input), admits: input.bool())
        }
    }

    // MARK: - One side

    /// Sides that speak other versions.
    private static let owns: [(Hello, Frame)] = ([(0, 2), (1, 1), (2, 3), (3, 6)] as [(UInt16, UInt16)]).map {
        oldest, newest in
        var hello = Samples.hello
        hello.minimumVersion = oldest
        hello.maximumVersion = newest
        guard let frame = try? Handshake.frame(hello), Handshake.hello(in: frame) == hello else {
            fatalError("does not hold: a hello survives the wire: \(hello)")
        }
        return (hello, frame)
    }

    private static func against(anyPeer input: inout FuzzInput) {
        let (own, ownFrame) = input.choice(of: owns)
        let dialled = input.bool()
        let admits = input.byte() & 3 != 0
        let seed = input.byte()
        var handshake = Handshake(own: own, dialled: dialled) { _ in admits ? nil : Refusal(.duplicate, "there is one")
        }
        var decoder = FrameDecoder()
        var story = Story(own: own, ownFrame: ownFrame, admits: admits)
        // One event decides; a few more show that the end is one.
        for _ in 0..<3 where !input.isEmpty {
            switch input.byte() & 7 {
            case 0: story.take(.connected, &handshake)
            case 1: story.take(.timedOut, &handshake)
            case 2, 3: story.take(frame: Frame(.hello, body: body(of: hello(&input))), &handshake)
            case 4: story.take(frame: Frame(.hello, body: ByteBuffer(bytes: input.field())), &handshake)
            case 5: story.take(frame: Frame(.refusal, body: ByteBuffer(bytes: input.field())), &handshake)
            default:
                var cuts = CutPoints(seed: seed)
                for piece in cuts.cut(input.rest()) {
                    decoder.append(piece)
                    while let frame = try? decoder.next() { story.take(frame: frame, &handshake) }
                }
            }
        }
    }

    /// What has happened to one side, and whether its answers fit.
    private struct Story {
        let own: Hello
        let ownFrame: Frame
        let admits: Bool
        private var isConnected = false
        private var isOver = false
        private var sentHello = false

        init(own: Hello, ownFrame: Frame, admits: Bool) {
            self.own = own
            self.ownFrame = ownFrame
            self.admits = admits
        }

        mutating func take(frame: Frame, _ handshake: inout Handshake) { take(.frame(frame), &handshake) }

        mutating func take(_ event: Handshake.Event, _ handshake: inout Handshake) {
            let actions: [Handshake.Action]
            do { actions = try handshake.handle(event) } catch { fatalError("does not hold: no throw, \(error)") }
            let wasOver = isOver
            let wasConnected = isConnected
            if case .connected = event, !isOver { isConnected = true }
            if wasOver { require(actions.isEmpty, "nothing after the end: \(actions)") }
            var hasLink = false
            for (index, action) in actions.enumerated() {
                require(!isOver, "nothing behind the end: \(actions)")
                switch action {
                case .send(let frame):
                    sent(frame)
                    require(!hasLink || frame.kind == .hello, "nothing but a hello behind a link")
                case .establish(let peer, let version):
                    hasLink = true
                    require(wasConnected && index == 0, "established first, and when connected")
                    guard case .frame(let frame) = event else { fatalError("does not hold: established by a frame") }
                    established(peer, version, by: frame)
                case .close(let failure):
                    isOver = true
                    require(isOneLine("\(failure)"), "a reason fit for a terminal: \(failure)")
                    if case .refused = failure { require(index == 1, "a refusal is sent before the close") }
                }
            }
            if hasLink {
                isOver = true
                require(sentHello, "the other side is told who this is")
            }
            switch event {
            case .frame where wasConnected && !wasOver: require(isOver, "the first frame decides")
            case .timedOut: require(isOver, "time decides")
            default: break
            }
        }

        private mutating func sent(_ frame: Frame) {
            require(frame.length <= FrameLimits.handshake, "what is sent fits the limit of the other side")
            switch frame.kind {
            case .hello:
                require(!sentHello && frame == ownFrame, "its own hello, once")
                sentHello = true
            case .refusal: break
            default: fatalError("does not hold: hello or refusal")
            }
        }

        private func established(_ peer: Hello, _ version: UInt16, by frame: Frame) {
            require(frame.kind == .hello && frame.body.array.starts(with: Handshake.magic), "by a hello")
            require(admits, "an admitted peer")
            require(peer.cluster == own.cluster && peer.node != own.node, "of this cluster and not itself")
            require(peer.versions.contains(version) && own.versions.contains(version), "a version of both")
            require(!peer.versions.contains(version + 1) || !own.versions.contains(version + 1), "the newest")
            HandshakeTarget.check(peer)
        }
    }

    // MARK: - Two sides

    /// Both sides are honest: both come to an end, and if both have a link, it has the same version.
    private static func meet(_ first: Hello, _ second: Hello, admits: Bool) {
        var sides = [
            Handshake(own: first, dialled: true),
            Handshake(own: second, dialled: false) { _ in admits ? nil : Refusal(.leaving, "bye") },
        ]
        var versions: [UInt16?] = [nil, nil]
        var closed = [false, false]
        var wire: [(to: Int, frame: Frame)] = []
        func handle(_ event: Handshake.Event, by side: Int) {
            for action in (try? sides[side].handle(event)) ?? [] {
                switch action {
                case .send(let frame): wire.append((1 - side, frame))
                case .establish(let peer, let version):
                    require(peer == (side == 0 ? second : first), "the peer as it is")
                    versions[side] = version
                case .close: closed[side] = true
                }
            }
        }
        handle(.connected, by: 0)
        handle(.connected, by: 1)
        var steps = 0
        while steps < wire.count {
            handle(.frame(wire[steps].frame), by: wire[steps].to)
            steps += 1
        }
        require(steps <= 3, "three frames at most")
        require(closed[0] != (versions[0] != nil), "the side that dialled ends one way")
        // The acceptor's link is closed by the other side's refusal, which comes when the handshake is over.
        require(closed[1] != (versions[1] != nil), "the side that was dialled ends one way")
        if versions[0] != nil { require(versions[0] == versions[1], "one version: \(versions)") }
    }

    // MARK: - Hellos

    private static func hello(_ input: inout FuzzInput) -> Hello {
        var hello = Samples.hello
        hello.node = NodeID(rawValue: UInt64(input.byte()))
        let changes = input.byte()
        if changes & 1 != 0 { hello.minimumVersion = UInt16(input.byte() & 3) }
        hello.maximumVersion = max(hello.maximumVersion, hello.minimumVersion)
        if changes & 2 != 0 { hello.maximumVersion = hello.minimumVersion &+ UInt16(input.byte() & 3) }
        if changes & 4 != 0 { hello.cluster = input.text() }
        if changes & 8 != 0 { hello.name = input.text() }
        if changes & 16 != 0 { hello.role = input.choice(of: [.node, .client, .worker]) }
        if changes & 32 != 0 {
            hello.advertised =
                input.bool()
                ? .unixSocket(path: input.text())
                : .hostPort(host: input.text(), port: Int(truncatingIfNeeded: input.integer(Int32.self)))
        }
        if changes & 64 != 0 {
            hello.limits.window = input.integer()
            hello.limits.calls = input.integer()
            hello.limits.body = input.integer()
        }
        return hello
    }

    private static func body(of hello: Hello) -> ByteBuffer {
        guard let frame = try? Handshake.frame(hello) else { fatalError("does not hold: a hello can be written") }
        return frame.body
    }

    private static func check(_ hello: Hello) {
        require(isOneLine(hello.name) && (1...63).contains(hello.name.utf8.count), "a good name: \(hello)")
        require(isOneLine(hello.cluster) && (1...63).contains(hello.cluster.utf8.count), "a good cluster: \(hello)")
        require(hello.minimumVersion <= hello.maximumVersion, "versions in order: \(hello)")
        require(hello.limits.isReasonable, "limits that can work: \(hello)")
        if let advertised = hello.advertised {
            require(advertised.isDialable && isOneLine("\(advertised)"), "an address to dial: \(hello)")
        }
    }

    static func seeds() throws -> [[UInt8]] {
        let hello = try Handshake.frame(Samples.hello)
        var stream = ByteBuffer()
        hello.write(into: &stream)
        var refusal = ByteBuffer()
        try Handshake.frame(Refusal(.duplicate, "there is one", by: NodeID(rawValue: 3))).write(into: &refusal)
        return [
            [1, 0, 0, 1, 9, 0, 6] + stream.array, [1, 0, 1, 1, 9, 0, 6] + refusal.array,
            [1, 0, 1, 1, 0, 0, 4, UInt8(hello.body.readableBytes)] + hello.body.array,
            [1, 2, 1, 1, 0, 0, 2, 7, 3, 2, 1], [1, 0, 0, 1, 0, 0, 1],
            [0, 1, 0, 2, 0, 1],
            [0, 1, 127, 1, 1, 1, 99, 1, 97, 0, 0, 1, 97, 0, 0, 1, 1] + [UInt8](repeating: 9, count: 12),
        ]
    }
}
