import NIOCore
import Testing

@testable import Transport

@Suite struct HandshakeTests {
    private func hello(_ node: UInt64, cluster: String = "c", versions: ClosedRange<UInt16> = 1...1) -> Hello {
        var hello = Hello(
            cluster: cluster, node: NodeID(rawValue: node), name: "n\(node)", role: .node, advertised: nil)
        hello.minimumVersion = versions.lowerBound
        hello.maximumVersion = versions.upperBound
        return hello
    }

    /// Runs both sides against each other, and returns how each ended.
    private func meet(
        _ dialler: Hello, _ acceptor: Hello, admit: @escaping (Hello) -> Refusal? = { _ in nil }
    ) throws -> (dialler: String, acceptor: String) {
        var sides = [
            Handshake(own: dialler, dialled: true), Handshake(own: acceptor, dialled: false, admit: admit),
        ]
        var ends = ["", ""]
        var wire: [(to: Int, frame: Frame)] = []
        func act(_ actions: [Handshake.Action], by side: Int) {
            for action in actions {
                switch action {
                case .send(let frame): wire.append((1 - side, frame))
                case .establish(let peer, let version): ends[side] = "\(peer.name) v\(version)"
                case .close(let failure): ends[side] = "\(failure)"
                }
            }
        }
        for side in [0, 1] { act(try sides[side].handle(.connected), by: side) }
        while !wire.isEmpty {
            let (side, frame) = wire.removeFirst()
            act(try sides[side].handle(.frame(frame)), by: side)
        }
        return (ends[0], ends[1])
    }

    @Test func `two nodes of one cluster meet and speak the newest common version`() throws {
        let ends = try meet(hello(1, versions: 1...3), hello(2, versions: 2...5))
        #expect(ends == ("n2 v3", "n1 v3"))
    }

    @Test func `another cluster is refused, and both sides know why`() throws {
        let ends = try meet(hello(1, cluster: "mine"), hello(2, cluster: "yours"))
        #expect(ends.acceptor.contains("belongs to cluster \"yours\""))
        #expect(ends.dialler == "the other side " + ends.acceptor)
    }

    @Test func `versions without overlap are refused with both ranges`() throws {
        let ends = try meet(hello(1, versions: 1...2), hello(2, versions: 3...4))
        #expect(ends.dialler.contains("protocol 3 to 4, the other side 1 to 2"))
    }

    @Test func `a node that dials itself gets that reason`() throws {
        #expect(try meet(hello(1), hello(1)).dialler.contains("dialled itself"))
    }

    @Test func `a second link is refused with the reason`() throws {
        let ends = try meet(hello(1), hello(2)) { _ in Refusal(.duplicate, "there is one") }
        #expect(ends.dialler.contains("there is one"))
    }

    @Test func `silence ends the handshake`() throws {
        var side = Handshake(own: hello(1), dialled: false)
        _ = try side.handle(.connected)
        guard case .close(.timedOut) = try side.handle(.timedOut).first else {
            Issue.record("expected the connection to be closed")
            return
        }
        #expect(try side.handle(.frame(try Handshake.frame(hello(2)))).isEmpty)
    }

    @Test func `a call before the hello is refused`() throws {
        var side = Handshake(own: hello(1), dialled: false)
        _ = try side.handle(.connected)
        let actions = try side.handle(.frame(Frame(.call, call: 1)))
        guard case .close(.refused(let refusal)) = actions.last else {
            Issue.record("expected a refusal, got \(actions)")
            return
        }
        #expect(refusal.reason == .notThisProtocol)
    }

    @Test(arguments: ["", "name\u{7}with bell", String(repeating: "x", count: 64), "line\nbreak", "a\u{2029}b"])
    func `a name that cannot be shown is refused`(name: String) throws {
        var bad = hello(3)
        bad.name = name
        #expect(Handshake.hello(in: try Handshake.frame(bad)) == nil)
    }

    @Test func `a hello with its versions in the wrong order is refused`() throws {
        // Found by the fuzzer: the head of the hello says 2 to 2, its value 2 to 1, and the link got version 1, which
        // this side does not speak.
        var peer = hello(7)
        peer.minimumVersion = 2
        peer.maximumVersion = 1
        var body = ByteBuffer(bytes: Handshake.magic + [0, 2, 0, 2])
        try WireCoder.encode(peer, into: &body)
        #expect(Handshake.hello(in: Frame(.hello, body: body)) == nil)
        var side = Handshake(own: hello(1, versions: 2...2), dialled: false)
        _ = try side.handle(.connected)
        guard case .close(.refused(let refusal)) = try side.handle(.frame(Frame(.hello, body: body))).last else {
            Issue.record("expected a refusal")
            return
        }
        #expect(refusal.reason == .notThisProtocol)
    }

    @Test func `a hello says what the sender measures by, in one line of text, or nothing`() throws {
        for text in [nil, "0.2, sep 1.2.1, x86_64", String(repeating: "x", count: 255)] {
            var peer = hello(7)
            peer.arithmetic = text
            #expect(Handshake.hello(in: try Handshake.frame(peer))?.arithmetic == text)
        }
        for text in ["", "two\nlines", "a\u{202E}b", String(repeating: "x", count: 256)] {
            var peer = hello(7)
            peer.arithmetic = text
            #expect(Handshake.hello(in: try Handshake.frame(peer)) == nil, "\(text)")
        }
    }

    @Test func `damaged hellos are refused or valid, and never crash`() throws {
        let good = try Handshake.frame(hello(7)).body
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            var bytes = Array(good.readableBytesView)
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...3, using: &generator))
            if let read = Handshake.hello(in: Frame(.hello, body: ByteBuffer(bytes: bytes))) {
                #expect(Hello.isValidName(read.name))
            }
        }
    }
}
