import NIOConcurrencyHelpers
import NIOCore
import Testing
import Transport

@testable import SkyNode

/// Clients that would shut the HTTP interface for everybody else.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileClientTests {
    @Test(arguments: ["", "GET /he", "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"])
    func `more connections than there are places lock nobody out, whatever they sent`(start: String) async throws {
        try await HTTPDoor.with {
            $0.localConnections = 8
            // With these limits no connection is closed for its age, however slow the machine is.
            ($0.receiveLimit, $0.idleLimit) = (.seconds(3600), .seconds(3600))
        } _: { door in
            var idle: [RawConnection] = []
            for _ in 0..<40 {
                let connection = try await door.open()
                if !start.isEmpty { try? await connection.send(start) }
                idle.append(connection)
            }
            for path in ["/healthz", "/readyz", "/v1/nodes", "/metrics"] {
                #expect(try await door.ask(path)?.status == 200, "\(path)")
            }
            // All but eight have made room: mostly the oldest, but a busy node may hear of two connections in another order.
            await withTaskGroup { group in
                for connection in idle { group.addTask { _ = await connection.untilClosed() } }
                for _ in 0..<32 { await group.next() }
                group.cancelAll()
            }
            #expect(door.connections.count <= 8 && door.connections.counts.crowdedOut >= 32)
        }
    }

    @Test func `half a request is answered with 408, and a silent connection is closed`() async throws {
        try await HTTPDoor.with {
            $0.receiveLimit = .milliseconds(100)
        } _: { door in
            let silent = try await door.open()
            #expect(await silent.untilClosed() == "")
            #expect(door.connections.counts.idle == 1 && door.connections.counts.late == 0)
            var answer: RawConnection.Answer?
            // On a busy machine the time may be over before the client has said anything.
            while answer == nil {
                let half = try await door.open()
                try? await half.send("GET /healthz HTTP/1.1\r\nHost: localh")
                answer = await half.answer()
                #expect(await half.untilClosed() == "")
            }
            #expect(answer?.status == 408 && answer?.head.contains("Connection: close") == true)
            #expect(answer?.body == "{\"error\":\"the request did not come in time\"}\n")
            #expect(door.connections.counts.late >= 1)
        }
    }

    @Test(arguments: ["POST /v1/jobs", "GET /healthz"])
    func `a body that arrives too slowly does not keep its connection`(start: String) async throws {
        try await HTTPDoor.with(token: HTTPDoor.token) {
            $0.receiveLimit = .milliseconds(200)
        } _: { door in
            // On a busy machine the time may be over before the head has arrived; then it is tried again.
            while door.connections.counts.late == 0 {
                let connection = try await door.open()
                try? await connection.send(
                    """
                    \(start) HTTP/1.1\r\nHost: localhost\r\n\(HTTPDoor.bearer)\r\n\
                    Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n
                    """)
                var sent = 0
                while connection.isOpen, sent < 60_000 {
                    do { try await connection.send("x") } catch { break }
                    sent += 1
                    try await Task.sleep(for: .milliseconds(1))
                }
                _ = await connection.untilClosed()
                // Without a limit the body would have come to its end.
                #expect(sent < 60_000)
            }
        }
    }

    @Test func `an idle connection is closed`() async throws {
        try await HTTPDoor.with {
            ($0.idleLimit, $0.receiveLimit) = (.milliseconds(50), .milliseconds(500))
        } _: { door in
            var status: Int?
            // On a busy machine the request may be late; then it is tried again.
            while status != 200 {
                let connection = try await door.open()
                status = try? await connection.ask("/healthz")?.status
                #expect(await connection.untilClosed() == "")
            }
        }
    }

    @Test func `a client that asks for much and reads nothing is closed`() async throws {
        try await HTTPDoor.with {
            ($0.stallLimit, $0.requestBurst) = (.milliseconds(100), 1e9)
        } _: { door in
            let connection = try await door.open()
            await connection.stopReading()
            // Requests are sent until the socket's buffers are full.
            let many = String(repeating: "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 500)
            while door.connections.counts.stalled == 0 {
                do { try await connection.send(many) } catch { break }
            }
            while door.connections.counts.stalled == 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try await door.ask("/healthz")?.status == 200)
            await connection.close()
        }
    }

    @Test func `probes do not count as requests, and share one answer of the node`() async throws {
        let asked = NIOLockedValueBox(0)
        try await HTTPDoor.with { limits in
            (limits.requestRate, limits.requestBurst) = (0, 3)
        } parts: { parts in
            let health = parts.health
            parts.health = SharedAnswer(maximumAge: .seconds(3600), limit: .seconds(60)) {
                asked.withLockedValue { $0 += 1 }
                // The node's own health is asked for until it is known.
                while true {
                    if let health = await health.value() { return health }
                }
            }
        } _: { door in
            let flood = try await door.open()
            for _ in 0..<300 {
                #expect(try await flood.ask("/healthz")?.status == 200)
                #expect(try await flood.ask("/readyz")?.status == 200)
            }
            #expect(asked.withLockedValue { $0 } == 1)
            for status in [200, 200, 200, 429, 429] { #expect(try await door.ask("/v1/nodes")?.status == status) }
            let refused = try await door.ask("/v1/nodes")
            #expect(refused?.head.contains("Retry-After: 1") == true)
            #expect(try await door.ask("/healthz")?.status == 200)
        }
    }

    @Test func `wrong tokens are delayed, and the right one is accepted at once`() async throws {
        try await HTTPDoor.with(token: HTTPDoor.token) { limits in
            (limits.guessRate, limits.guessBurst, limits.guessDelay) = (0, 3, .seconds(3600))
        } _: { door in
            for wrong in ["Bearer x", "Bearer " + HTTPDoor.token + "x", "Basic eDp5"] {
                #expect(try await door.ask("/v1/jobs", "Authorization: " + wrong)?.status == 401)
            }
            // A request without a token is not a guess.
            #expect(try await door.ask("/v1/jobs")?.status == 401)
            let guesses = try await [door.open(), door.open()]
            for guess in guesses {
                try await guess.send("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer y\r\n\r\n")
            }
            for _ in 1...5 { #expect(try await door.ask("/v1/jobs", HTTPDoor.bearer)?.status == 200) }
            // The wrong guesses still wait.
            #expect(guesses.allSatisfy { $0.isOpen })
            for guess in guesses { await guess.close() }
        }
    }

    @Test func `a delayed guess gets 429 with Retry-After, and its connection is closed`() async throws {
        try await HTTPDoor.with(token: HTTPDoor.token) { limits in
            (limits.guessRate, limits.guessBurst, limits.guessDelay) = (0, 1, .zero)
        } _: { door in
            #expect(try await door.ask("/v1/jobs", "Authorization: Bearer x")?.status == 401)
            let guess = try await door.open()
            let answer = try await guess.ask("/v1/jobs", "Authorization: Bearer y")
            #expect(answer?.status == 429)
            #expect(
                answer?.head.contains("Retry-After: 10") == true && answer?.head.contains("Connection: close") == true)
            #expect(await guess.untilClosed() == "")
            #expect(try await door.ask("/v1/jobs", HTTPDoor.bearer)?.status == 200)
        }
    }

    @Test func `the host name is checked before everything else`() async throws {
        try await HTTPDoor.with(token: HTTPDoor.token) { _ in
        } _: { door in
            for path in ["/healthz", "/readyz", "/metrics", "/v1/jobs", "/nothing"] {
                let connection = try await door.open()
                try await connection.send("GET \(path) HTTP/1.1\r\nHost: evil.example\r\n\(HTTPDoor.bearer)\r\n\r\n")
                let answer = await connection.answer()
                #expect(answer?.status == 421, "\(path)")
                #expect(answer?.body.contains("evil.example") == true && answer?.body.contains("--http-host") == true)
                await connection.close()
            }
            let wrong = ["", "Host: localhost\r\nHost: localhost\r\n", "Host: a b\r\n", "Host:\r\n"]
            for fields in wrong {
                let connection = try await door.open()
                try await connection.send("GET /healthz HTTP/1.1\r\n\(fields)\r\n")
                #expect(await connection.answer()?.status == 400, "\(fields)")
                await connection.close()
            }
            for host in ["127.0.0.1:\(door.port)", "10.42.0.7:7422", "[::1]:7422", "LOCALHOST", "dome:7422"] {
                let connection = try await door.open()
                try await connection.send("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(await connection.answer()?.status == 200, "\(host)")
                await connection.close()
            }
        }
    }

    @Test func `more clients than places that read no answers lock nobody out`() async throws {
        try await HTTPDoor.with {
            ($0.localConnections, $0.requestBurst, $0.stallLimit) = (4, 1e9, .seconds(3600))
        } _: { door in
            let many = String(repeating: "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 2000)
            let senders = try await withThrowingTaskGroup(of: RawConnection.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let connection = try await door.open()
                        await connection.stopReading()
                        try? await connection.send(many)
                        return connection
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // At once where they are idle, otherwise as soon as one of them has read nothing for a second.
            while (try? await door.ask("/healthz"))?.status != 200 {}
            for sender in senders { await sender.close() }
        }
    }

    @Test func `an answer that is late is replaced by 503`() async throws {
        let never = Latch()
        try await HTTPDoor.with {
            $0.answerLimit = .milliseconds(50)
        } parts: { parts in
            parts.storage = SharedAnswer(maximumAge: .zero, limit: .seconds(3600)) {
                await never.wait()
                return nil
            }
        } _: { door in
            let answer = try await door.ask("/metrics")
            #expect(answer?.status == 503 && answer?.head.contains("Retry-After") == true)
            #expect(try await door.ask("/healthz")?.status == 200)
        }
        never.open()
    }

    @Test func `metrics are answered while the journal hangs, and say so`() async throws {
        let never = Latch()
        try await HTTPDoor.with { _ in
        } parts: { parts in
            parts.storage = SharedAnswer(maximumAge: .zero, limit: .milliseconds(50)) {
                await never.wait()
                return nil
            }
        } _: { door in
            for _ in 1...3 {
                let answer = try #require(try await door.ask("/metrics"))
                #expect(answer.status == 200)
                #expect(answer.body.contains("\nskynode_part_missing{part=\"journal\"} 1\n"))
                #expect(answer.body.contains("\nskynode_part_missing{part=\"node\"} 0\n"))
                #expect(answer.body.contains("\nskynode_slots 1\n") && answer.body.contains("\nskynode_jobs{"))
                #expect(!answer.body.contains("skynode_journal_bytes"))
                #expect(answer.body.contains("\nskynode_http_connections "))
            }
        }
        never.open()
    }
}
