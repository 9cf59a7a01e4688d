import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import Transport

@Suite struct LinkHandlerTests {
    // MARK: - The handshake

    @Test func `the dialling side says hello first, and the answer makes the link`() throws {
        let bench = try LinkBench(dialled: true)
        #expect(try bench.written() == [.hello])
        #expect(bench.notes.link == nil)
        try bench.sayHello()
        #expect(try bench.written() == [.ping])
        #expect(try bench.established?.wait() === bench.notes.link)
        #expect(bench.notes.link?.peer.name == "n2")
    }

    @Test func `the dialled side says hello when the peer's hello is good`() throws {
        let bench = try LinkBench(dialled: false)
        #expect(try bench.written() == [])
        try bench.sayHello()
        #expect(try bench.written() == [.hello, .ping])
        #expect(bench.notes.link != nil)
    }

    @Test(arguments: [true, false]) func `a link that is not wanted is refused, and nothing follows`(dialled: Bool)
        throws
    {
        let bench = try LinkBench(dialled: dialled)
        _ = try bench.written()
        bench.owner.notes.withLockedValue { $0.refusal = Refusal(.leaving, "n1 is shutting down") }
        try bench.sayHello()
        #expect(try bench.written() == [.refusal])
        #expect(bench.isClosed)
        #expect(bench.notes.troubles == ["refused: n1 is shutting down"])
        #expect(bench.notes.reports == [], "there never was a link")
        if let established = bench.established {
            #expect(throws: HandshakeFailure.refused(Refusal(.leaving, "n1 is shutting down"))) {
                try established.wait()
            }
        }
    }

    @Test func `a second link to a peer is refused without a log line`() throws {
        let bench = try LinkBench(dialled: false)
        bench.owner.notes.withLockedValue { $0.refusal = Refusal(.duplicate, "there is one") }
        try bench.sayHello()
        #expect(bench.isClosed)
        #expect(bench.notes.troubles == [])
    }

    @Test(arguments: [true, false]) func `a peer that says nothing is given up`(dialled: Bool) throws {
        let bench = try LinkBench(dialled: dialled)
        let limit = LinkHandler.handshakeLimit + (dialled ? LinkHandler.connectLimit : .zero)
        bench.pass(limit - .milliseconds(1))
        #expect(!bench.isClosed)
        bench.pass(.milliseconds(1))
        #expect(bench.isClosed)
        if let established = bench.established {
            #expect(throws: HandshakeFailure.timedOut) { try established.wait() }
        }
        // The dialling side has the failure, and reports it.
        #expect(bench.notes.troubles.count == (dialled ? 0 : 1))
    }

    @Test func `a link is not given up for the time of its handshake`() throws {
        let (bench, _) = try LinkBench.linked()
        // The peer answers, so that it is not silent either.
        for _ in 0..<20 {
            bench.pass(.milliseconds(500))
            try bench.receive(Frame(.ping))
        }
        #expect(!bench.isClosed)
    }

    @Test func `a connection with another protocol is closed and reported`() throws {
        let bench = try LinkBench(dialled: false)
        try bench.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        #expect(bench.isClosed)
        #expect(bench.notes.troubles.count == 1)
        #expect(bench.notes.reports == [])
    }

    @Test func `the dialler gets an error when the connection ends before its handshake`() throws {
        let bench = try LinkBench(dialled: true)
        try bench.channel.close().wait()
        #expect(throws: HandshakeFailure.broken("the connection was closed before the handshake was done")) {
            try #require(bench.established).wait()
        }
    }

    @Test func `only the dialled side reports why TLS failed`() throws {
        for dialled in [true, false] {
            let bench = try LinkBench(dialled: dialled)
            bench.channel.pipeline.fireErrorCaught(TLSFailure.otherAuthority)
            #expect(bench.isClosed)
            #expect(bench.notes.troubles == (dialled ? [] : ["refused: \(TLSFailure.otherAuthority)"]))
        }
    }

    @Test func `a TLS handshake that never ends is given up in time`() throws {
        let bench = try LinkBench(dialled: true, becomesSecure: false)
        bench.pass(LinkHandler.handshakeLimit + LinkHandler.connectLimit)
        #expect(bench.isClosed)
        #expect(throws: HandshakeFailure.timedOut) { try #require(bench.established).wait() }
        #expect(try bench.written() == [], "no hello leaves before that")
    }

    // MARK: - A link's frames

    @Test func `a frame that makes no sense ends the link once`() throws {
        for frame in [Frame(.hello), Frame(.grant), Frame(.draining)] {
            let (bench, _) = try LinkBench.linked()
            try bench.receive(frame)
            #expect(bench.isClosed)
            #expect(bench.notes.reports == ["ended"])
            #expect(bench.notes.troubles.count == 1, "\(frame.kind)")
        }
    }

    @Test func `a failed link handles no more frames while its close is delayed`() throws {
        let end = LinkBench.SlowClose()
        let (bench, _) = try LinkBench.linked(closesSlowly: end)
        try bench.receive(Frame(.call, call: 1))
        #expect(bench.notes.calls == [1])
        var bytes = ByteBuffer()
        for frame in [Frame(.hello), Frame(.call, call: 2)] { frame.write(into: &bytes) }
        try bench.receive(bytes)
        #expect(end.isAsked)
        try bench.receive(Frame(.call, call: 3))
        #expect(bench.notes.calls == [1])
        #expect(bench.notes.reports == ["ended"], "no call is made on it while TLS takes leave")
        bench.pass(.seconds(4))
        bench.channel.pipeline.fireChannelInactive()
        bench.channel.pipeline.fireChannelInactive()
        #expect(bench.notes.reports == ["ended"])
        #expect(bench.notes.troubles.count == 1)
    }

    @Test func `an error of the connection ends its link at once`() throws {
        let end = LinkBench.SlowClose()
        let (bench, link) = try LinkBench.linked(closesSlowly: end)
        bench.channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNRESET, reason: "read"))
        #expect(end.isAsked)
        #expect(bench.notes.reports == ["ended"])
        #expect(bench.notes.troubles == [])
        link.send(Frame(.ping))
        #expect(try bench.written() == [])
    }

    @Test func `a late refusal ends the link without a log line`() throws {
        let (bench, _) = try LinkBench.linked(dialled: true)
        try bench.receive(Handshake.frame(Refusal(.duplicate, "there is one")))
        #expect(bench.isClosed)
        #expect(bench.notes.reports == ["ended"])
        #expect(bench.notes.troubles == [])
    }

    @Test func `frames about the peer's state are passed on to the node`() throws {
        let (bench, _) = try LinkBench.linked()
        try bench.receive(Frame(.draining, body: ByteBuffer(integer: UInt8(1))))
        try bench.receive(Frame(.peers))
        try bench.receive(Frame(.pong, body: ByteBuffer(integer: UInt64(0))))
        #expect(bench.notes.reports == ["draining true", "introductions", "compared clocks"])
    }

    @Test func `several pings of one read get one answer`() throws {
        let (bench, _) = try LinkBench.linked()
        var bytes = ByteBuffer()
        for _ in 0..<3 { Frame(.ping).write(into: &bytes) }
        try bench.receive(bytes)
        #expect(try bench.written() == [.pong])
    }

    @Test func `a peer that sends more than its window is cut off`() throws {
        var limits = LinkLimits()
        limits.window = UInt32(2 * FrameLimits.piece)
        let (bench, _) = try LinkBench.linked(limits: limits)
        let body = ByteBuffer(repeating: 0, count: FrameLimits.piece)
        var bytes = ByteBuffer()
        for call in 1...3 { Frame(.call, call: UInt64(call), body: body).write(into: &bytes) }
        try bench.receive(bytes)
        #expect(bench.isClosed)
        #expect(bench.notes.troubles == ["broken: \(ReceiveWindow.Exceeded())"])
    }

    @Test func `received bytes are granted again`() throws {
        var limits = LinkLimits()
        limits.window = UInt32(2 * FrameLimits.piece)
        let (bench, _) = try LinkBench.linked(limits: limits)
        let body = ByteBuffer(repeating: 0, count: FrameLimits.piece)
        for call in 1...8 { try bench.receive(Frame(.reply, call: UInt64(call), body: body)) }
        #expect(try bench.written().contains(.grant))
        #expect(!bench.isClosed)
    }

    @Test func `a peer that asks and reads no answers is cut off`() throws {
        let (bench, link) = try LinkBench.linked()
        bench.channel.isWritable = false
        for _ in 0...FrameLimits.controlFrames { link.send(Frame(.cancel, call: 1)) }
        bench.channel.pipeline.fireChannelWritabilityChanged()
        #expect(bench.isClosed)
        #expect(bench.notes.troubles == ["unread"])
        #expect(bench.notes.reports == ["ended"])
    }

    // MARK: - The end of a link

    @Test func `a leaving node says goodbye, and closes when the peer's calls are answered`() throws {
        let (bench, link) = try LinkBench.linked()
        try bench.receive(Frame(.call, call: 1))
        link.leave(within: .seconds(2))
        #expect(try bench.written() == [.goodbye])
        #expect(!bench.isClosed)
        link.send(Frame(.reply, call: 1))
        #expect(try bench.written() == [.reply])
        #expect(!bench.isClosed)
        link.inbound.finish(1)
        #expect(bench.isClosed)
        #expect(bench.notes.reports == ["ended"])
    }

    @Test func `a leaving node says goodbye once on a link that gives way`() throws {
        let (bench, link) = try LinkBench.linked()
        try bench.receive(Frame(.call, call: 1))
        link.giveWay()
        link.leave(within: .seconds(2))
        link.leave(within: .seconds(2))
        #expect(try bench.written() == [.giveWay, .goodbye])
        link.inbound.finish(1)
        #expect(bench.isClosed)
    }

    @Test func `a leaving node does not wait for ever`() throws {
        let (bench, link) = try LinkBench.linked()
        try bench.receive(Frame(.call, call: 1))
        link.leave(within: .seconds(2))
        bench.pass(.milliseconds(1999))
        try bench.receive(Frame(.ping))
        #expect(!bench.isClosed)
        bench.pass(.milliseconds(1))
        #expect(bench.isClosed)
    }

    @Test func `a link that gives way is closed when both sides have said so`() throws {
        let (bench, link) = try LinkBench.linked()
        try bench.receive(Frame(.call, call: 1))
        link.giveWay()
        #expect(try bench.written() == [.giveWay])
        try bench.receive(Frame(.giveWay))
        #expect(!bench.isClosed, "a call of the peer is under way")
        link.inbound.finish(1)
        #expect(bench.isClosed)
        #expect(bench.notes.reports == ["ended"])
    }

    @Test func `a connection that ends after a goodbye counts as leaving`() throws {
        let (bench, link) = try LinkBench.linked()
        #expect(!link.isLeaving)
        try bench.receive(Frame(.goodbye))
        #expect(link.isLeaving)
        #expect(!bench.isClosed, "the leaving side closes")
        try bench.channel.close().wait()
        #expect(link.isLeaving)
        #expect(bench.notes.reports == ["ended"])
    }

    // MARK: - Silence

    @Test func `a silent peer is pinged, suspected and lost`() throws {
        let (bench, _) = try LinkBench.linked(dialled: true)
        bench.pass(.milliseconds(1600))
        #expect(try bench.written().contains(.ping))
        #expect(bench.notes.reports == [])
        bench.pass(.milliseconds(900))
        // The peer is probed again and again.
        #expect(Set(bench.notes.reports) == ["suspected"])
        #expect(!bench.isClosed)
        bench.pass(.seconds(1))
        #expect(bench.isClosed)
        #expect(bench.notes.reports.last == "ended")
        #expect(bench.notes.reports.filter { $0 == "ended" }.count == 1)
        #expect(bench.notes.troubles == [], "a machine that is gone is no trouble with its connection")
    }

    @Test func `a suspected peer that is heard is back`() throws {
        let (bench, _) = try LinkBench.linked(dialled: true)
        bench.pass(.milliseconds(2500))
        #expect(Set(bench.notes.reports) == ["suspected"])
        let count = bench.notes.reports.count
        try bench.receive(Frame(.ping))
        #expect(bench.notes.reports.dropFirst(count) == ["revived"])
        bench.pass(.milliseconds(1500))
        #expect(!bench.isClosed)
    }

    @Test func `a silent peer's link ends although its close is delayed`() throws {
        let end = LinkBench.SlowClose()
        let (bench, _) = try LinkBench.linked(dialled: true, closesSlowly: end)
        bench.pass(.seconds(4))
        #expect(end.isAsked)
        #expect(bench.notes.reports.last == "ended")
        bench.channel.pipeline.fireChannelInactive()
        #expect(bench.notes.reports.filter { $0 == "ended" }.count == 1)
    }
}
