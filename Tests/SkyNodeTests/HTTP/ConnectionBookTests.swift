import NIOCore
import Testing
import Transport

@testable import SkyNode

/// Who gets a connection, and how long it lasts, on a clock that the test moves.
struct ConnectionBookTests {
    private var limits: HTTPLimits {
        var limits = HTTPLimits()
        (limits.connections, limits.connectionsBySource, limits.localConnections) = (6, 3, 2)
        (limits.answers, limits.answersBySource, limits.localAnswers) = (3, 2, 1)
        return limits
    }

    private func source(_ number: UInt8) throws -> HTTPSource {
        HTTPSource(try #require(IPAddress(bytes: [10, 0, 0, number])))
    }

    private func opened(_ admission: ConnectionBook.Admission) throws -> (
        id: ConnectionBook.ID, closing: ConnectionBook.ID?
    ) {
        guard case .admitted(let id, let closing) = admission else { throw Unexpected.refusal }
        return (id, closing)
    }

    private enum Unexpected: Error { case refusal }

    @Test func `a source's next connection closes its own oldest idle one, and no other`() throws {
        var book = ConnectionBook(limits: limits)
        let other = try opened(book.open(from: source(2), at: .zero)).id
        let ids = try (1...3).map { try opened(book.open(from: source(1), at: .seconds($0))).id }
        // The first one has just been used.
        book.received(ids[0], at: .seconds(4))
        #expect(book.answering(ids[0], at: .seconds(4)) == true)
        book.answered(ids[0], at: .seconds(5))
        let next = try opened(book.open(from: source(1), at: .seconds(6)))
        #expect(next.closing == ids[1] && next.closing != other)
        #expect(book.count == 4 && book.counts.crowdedOut == 1)
    }

    @Test func `a connection that is being answered is never closed for another one`() throws {
        var book = ConnectionBook(limits: limits)
        let answering = try opened(book.open(from: .local, at: .zero)).id
        let idle = try opened(book.open(from: .local, at: .zero)).id
        #expect(book.answering(answering, at: .zero) == true)
        #expect(try opened(book.open(from: .local, at: .seconds(1))).closing == idle)
        // A connection that writes an answer to a probe is answering too, although it is not counted.
        var second = ConnectionBook(limits: limits)
        for _ in 1...2 { second.writing(try opened(second.open(from: .local, at: .zero)).id, at: .zero) }
        #expect(second.open(from: .local, at: .seconds(1)) == .refused)
        #expect(second.counts.refused == 1 && second.count == 2)
    }

    @Test func `when all places are taken, the source with the most connections gives way`() throws {
        var book = ConnectionBook(limits: limits)
        for _ in 1...2 { _ = book.open(from: try source(2), at: .zero) }
        let greedy = try (1...3).map { try opened(book.open(from: source(1), at: .seconds($0))).id }
        _ = book.open(from: try source(3), at: .seconds(4))
        #expect(book.count == 6)
        let newcomer = try opened(book.open(from: source(4), at: .seconds(5)))
        #expect(newcomer.closing == greedy[0], "not the oldest of all, which belongs to a source with two")
    }

    @Test func `other machines cannot fill the places of this one`() throws {
        var book = ConnectionBook(limits: limits)
        for number in 1...200 { _ = book.open(from: try source(UInt8(number)), at: .zero) }
        #expect(book.count == 6)
        #expect(try opened(book.open(from: .local, at: .seconds(1))).closing == nil)
    }

    @Test func `probes have a place while the allowed answers of a source are under way`() throws {
        let limits = HTTPLimits()
        var book = ConnectionBook(limits: limits)
        for _ in 0..<limits.localConnections {
            let id = try opened(book.open(from: .local, at: .zero)).id
            _ = book.answering(id, at: .zero)
        }
        let probe = try opened(book.open(from: .local, at: .seconds(1))).id
        book.received(probe, at: .seconds(1))
        book.writing(probe, at: .seconds(1))
        #expect(limits.localAnswers < limits.localConnections && limits.answersBySource < limits.connectionsBySource)
        #expect(limits.answers < limits.connections)
    }

    @Test func `the requests answered at a time are limited, for each source and in total`() throws {
        var book = ConnectionBook(limits: limits)
        let ids = try [1, 1, 1, 2, 3].map { try opened(book.open(from: source($0), at: .zero)).id }
        #expect(ids.map { book.answering($0, at: .zero) } == [true, true, false, true, false])
        book.answered(ids[3], at: .zero)
        #expect(book.answering(ids[4], at: .zero) == true)
        // A request on a closed connection is not answered.
        book.close(ids[0])
        #expect(book.answering(ids[0], at: .zero) == false)
    }

    @Test func `a request that is not complete in time is ended, however slowly its bytes arrive`() throws {
        var book = ConnectionBook(limits: limits)
        let id = try opened(book.open(from: .local, at: .zero)).id
        for second in 1...9 { book.received(id, at: .seconds(second)) }
        #expect(book.expire(id, at: .milliseconds(9999)) == .again(at: .seconds(10)))
        #expect(book.expire(id, at: .seconds(10)) == .closeLate)
        #expect(book.expire(id, at: .seconds(11)) == .nothing && book.count == 0 && book.counts.late == 1)
    }

    @Test func `the time of a later request begins with its first byte`() throws {
        var book = ConnectionBook(limits: limits)
        let id = try opened(book.open(from: .local, at: .zero)).id
        book.received(id, at: .zero)
        #expect(book.answering(id, at: .seconds(1)) == true)
        #expect(book.expire(id, at: .seconds(500)) == .again(at: .seconds(510)), "an answer may take its time")
        book.answered(id, at: .seconds(1000))
        #expect(book.deadline(id, at: .seconds(1000)) == .seconds(1060))
        book.received(id, at: .seconds(1030))
        #expect(book.deadline(id, at: .seconds(1030)) == .seconds(1040))
    }

    @Test func `a silent connection is closed without an answer`() throws {
        var book = ConnectionBook(limits: limits)
        let (silent, kept) = (
            try opened(book.open(from: .local, at: .zero)).id, try opened(book.open(from: .local, at: .zero)).id
        )
        #expect(book.expire(silent, at: .seconds(10)) == .close)
        book.writing(kept, at: .seconds(1))
        book.answered(kept, at: .seconds(2))
        #expect(book.expire(kept, at: .seconds(61)) == .again(at: .seconds(62)))
        #expect(book.expire(kept, at: .seconds(62)) == .close)
        #expect(book.counts.idle == 2)
    }

    @Test func `a client that reads nothing is closed, and one that reads again is not`() throws {
        var book = ConnectionBook(limits: limits)
        let id = try opened(book.open(from: .local, at: .zero)).id
        #expect(book.answering(id, at: .zero) == true)
        book.stalled(id, true, at: .seconds(100))
        book.stalled(id, true, at: .seconds(120))
        book.stalled(id, false, at: .seconds(125))
        #expect(book.expire(id, at: .seconds(131)) == .again(at: .seconds(141)))
        book.stalled(id, true, at: .seconds(140))
        #expect(book.deadline(id, at: .seconds(169)) == .seconds(170))
        #expect(book.expire(id, at: .seconds(170)) == .close && book.counts.stalled == 1)
    }

    @Test func `a client that asks and reads nothing makes room for others`() throws {
        var book = ConnectionBook(limits: limits)
        let ids = try (1...2).map { _ in try opened(book.open(from: .local, at: .zero)).id }
        for id in ids { book.writing(id, at: .zero) }
        book.stalled(ids[1], true, at: .seconds(1))
        #expect(book.open(from: .local, at: .milliseconds(1999)) == .refused, "it may read again in a moment")
        #expect(try opened(book.open(from: .local, at: .seconds(2))).closing == ids[1])
    }

    @Test func `a closing connection has a moment for the client to close too`() throws {
        var book = ConnectionBook(limits: limits)
        let id = try opened(book.open(from: .local, at: .zero)).id
        book.closing(id, at: .seconds(1))
        book.received(id, at: .seconds(2))
        book.answered(id, at: .seconds(3))
        #expect(book.deadline(id, at: .seconds(3)) == .seconds(6))
        #expect(book.expire(id, at: .seconds(6)) == .close)
    }

    @Test func `delayed guesses make room for other connections`() throws {
        var book = ConnectionBook(limits: limits)
        let ids = try (1...2).map { _ in try opened(book.open(from: .local, at: .zero)).id }
        book.writing(ids[0], at: .seconds(1))
        book.delay(ids[1], at: .seconds(1))
        #expect(try opened(book.open(from: .local, at: .seconds(2))).closing == ids[1])
        // A closed connection does not come back.
        book.delay(ids[1], at: .seconds(2))
        #expect(book.count == 2 && book.deadline(ids[1], at: .seconds(2)) == nil)
    }

    @Test func `connections are counted by network, and those of this machine together`() throws {
        func source(_ text: String) throws -> HTTPSource { HTTPSource(try SocketAddress(ipAddress: text, port: 1)) }
        #expect(try source("127.0.0.1") == .local && source("127.9.9.9") == .local && source("::1") == .local)
        #expect(try source("::ffff:127.0.0.1") == .local && HTTPSource(nil) == .local)
        #expect(try source("::ffff:10.0.0.1") == source("10.0.0.1"))
        #expect(try source("10.0.0.1") != source("10.0.0.2"))
        #expect(try source("2001:db8:0:1::1") == source("2001:db8:0:1:ffff::2"))
        #expect(try source("2001:db8:0:1::1") != source("2001:db8:0:2::1"))
    }
}
