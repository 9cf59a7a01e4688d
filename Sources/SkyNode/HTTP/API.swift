import Base
import HTTPTypes
import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore
import SkyCore
import Transport

/// Answers requests about a node and its jobs.
struct API: Sendable {
    let parts: Parts
    let metrics: MetricsRegistry
    /// A client that knows the token may do everything. Without a token, reading is free and nothing can be changed.
    private let token: BearerToken?
    private let hosts: HostNames
    let limits: HTTPLimits
    let connections: HTTPConnections
    private let state: NIOLockedValueBox<State>
    /// When the API started, in seconds since 1970. The node starts with its API.
    let started = Double(WallClock.milliseconds) / 1000

    private struct State {
        var sources: SourceLimits
        /// The number of answers by status. The statuses that an alert looks for are there from the start.
        var answered = [200: 0, 401: 0, 403: 0, 429: 0]
    }

    /// How many clients follow jobs now.
    let followers = NIOLockedValueBox(0)
    /// How many clients may follow jobs at a time.
    static let followerLimit = 32

    init(
        parts: Parts, metrics: MetricsRegistry, token: String?, hosts: HostNames, limits: HTTPLimits,
        connections: HTTPConnections
    ) {
        (self.parts, self.metrics, self.hosts, self.limits) = (parts, metrics, hosts, limits)
        self.token = token.map(BearerToken.init)
        self.connections = connections
        state = NIOLockedValueBox(State(sources: SourceLimits(limits: limits)))
    }

    /// The number of answers by status until now, including those that a connection had before its request was whole.
    var answered: [Int: Int] {
        var answered = state.withLockedValue { $0.answered }
        answered[408, default: 0] += connections.counts.late
        return answered
    }

    func respond(to request: Request, from connection: HTTPConnection) async -> Response {
        var response: Response
        do {
            response = try await answer(request, connection)
            if request.method == .head { response.body = ResponseBody() }
        } catch {
            response = APIFailure(error).response
        }
        state.withLockedValue { $0.answered[response.status.code, default: 0] += 1 }
        return response
    }

    /// The name under which the node is asked is checked first, then what is asked for, then who asks, and only then how often.
    /// Probes know no token, and they ask all the more when there is much to do, so the last two checks are not made for them.
    private func answer(_ request: Request, _ connection: HTTPConnection) async throws -> Response {
        try checkHost(request)
        let route = try APIRoute(method: request.method.rawValue, path: request.uri.path)
        if route.isOpen { return try await answer(route, request, nil) }
        try await authorize(request, route, connection)
        guard state.withLockedValue({ $0.sources.takeRequest(connection.source, at: connections.now) }) else {
            throw APIFailure(.tooManyRequests, "too many requests; ask again in a second", [.retryAfter: "1"])
        }
        // The body is awaited before the request takes a place that others need.
        let job = route == .submit ? try await body(of: request) : nil
        guard connection.answering() else {
            throw APIFailure(
                .serviceUnavailable, "too many requests are being answered; ask again in a second", [.retryAfter: "1"])
        }
        let answer = await API.answer(within: limits.answerLimit) { () async -> Result<Response, any Error> in
            do { return .success(try await self.answer(route, request, job)) } catch { return .failure(error) }
        }
        guard let answer else {
            let advice = route.isChange ? "; look whether it was done, or repeat it with the same token" : ""
            throw APIFailure(
                .serviceUnavailable, "the node has not done it within \(limits.answerLimit)\(advice)",
                [.retryAfter: "10"]
            )
        }
        return try answer.get()
    }

    private func answer(_ route: APIRoute, _ request: Request, _ body: ByteBuffer?) async throws -> Response {
        if route.isAboutJobs, !parts.takesJobs {
            throw APIFailure(
                .serviceUnavailable, "this node \(UnopenedJobs.words(at: parts.system.ownMember.address))",
                [.retryAfter: "5"])
        }
        switch route {
        case .metrics: return .text(await prometheus(), type: "text/plain; version=0.0.4; charset=utf-8")
        case .nodes:
            struct Body: Encodable { var nodes: [NodeLine] }
            return .json(Body(nodes: try await parts.coordinator.nodes().map(NodeLine.init)))
        case .jobs:
            struct Body: Encodable {
                var jobs: [JobLine]
                var waiting: [WaitingLine]?
            }
            async let waiting = parts.waiting.value() ?? []
            let jobs = try await parts.coordinator.list().map { JobLine($0) }
            let lines = await waiting.map(WaitingLine.init)
            return .json(Body(jobs: jobs, waiting: lines.isEmpty ? nil : lines))
        case .job(let id):
            return .json(JobLine(try await parts.coordinator.listing(id), try await parts.coordinator.details(id)))
        case .submit:
            let submission = try Submission(json: body ?? ByteBuffer())
            let id: JobID
            do {
                id = try await parts.coordinator.submit(submission)
            } catch let error as SkyError {
                // The submission was valid, but it does not go with the jobs that there are: it may have another job's token.
                throw APIFailure(.conflict, error.message)
            }
            return .json(
                JobLine(try await parts.coordinator.listing(id)), status: .created,
                headers: [.location: "/v1/jobs/\(id)"])
        case .delete(let id):
            try await parts.coordinator.delete(id)
            return Response(status: .noContent)
        case .events(let id): return try await events(id, request)
        case .health: return try await health()
        case .readiness: return try await readiness()
        }
    }

    // MARK: - Who may ask

    /// Checks the host before anything else is looked at: a page of the web must not even learn what there is.
    private func checkHost(_ request: Request) throws {
        // The first `Host` is the authority; another one stays among the fields.
        let further = HTTPField.Name("Host").map { request.headers[values: $0] } ?? []
        switch hosts.judge((request.head.authority.map { [$0] } ?? []) + further) {
        case .accepted: break
        case .malformed: throw APIFailure(.badRequest, "a request has one Host, which is NAME:PORT or ADDRESS:PORT")
        case .foreign(let name):
            throw APIFailure(
                .misdirectedRequest,
                "this node does not answer to the name \(PrintableText.of(String(name.prefix(80)))): ask by its IP address, "
                    + "or start it with --http-host and that name")
        }
    }

    private func authorize(_ request: Request, _ route: APIRoute, _ connection: HTTPConnection) async throws {
        guard let token else {
            guard !route.isChange else {
                throw APIFailure(.forbidden, "without --http-token nothing can be changed by HTTP")
            }
            return
        }
        // A client with the right token is let in at once, even while another client guesses behind the same address.
        let shown = request.headers[.authorization]
        guard !token.isShown(by: shown) else { return }
        // A client that shows no token has not guessed.
        let isSlowed =
            shown != nil
            && !state.withLockedValue { $0.sources.takeGuess(connection.source, at: connections.now) }
        if isSlowed {
            await connection.delay(limits.guessDelay)
            throw APIFailure(
                .tooManyRequests, "too many requests without the right token",
                [.retryAfter: "10", .connection: "close"])
        }
        throw APIFailure(.unauthorized, "a bearer token is needed", [.wwwAuthenticate: "Bearer realm=\"skynode\""])
    }

    // MARK: - How it is

    /// The answer of a part, which may hang; `nil` where it has not answered in time.
    static func answer<Value: Sendable>(
        within limit: Duration, _ ask: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await SharedAnswer(maximumAge: .zero, limit: limit, ask: ask).value()
    }

    private func health() async throws -> Response {
        guard await parts.health.value() != nil else {
            throw APIFailure(.serviceUnavailable, "a part of this node has not answered for \(Parts.limit)")
        }
        return .text("ok\n")
    }

    private func readiness() async throws -> Response {
        guard let health = await parts.health.value(), health.isReady else {
            throw APIFailure(.serviceUnavailable, "this node takes no new work")
        }
        return .text("ready\n")
    }

    // MARK: - Jobs

    /// The body of a request. However slowly it comes, the connection ends in time.
    private func body(of request: Request) async throws -> ByteBuffer {
        let type = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() } ?? ""
        // A page in a browser can send other types without asking.
        guard type == "application/json" else {
            throw APIFailure(.unsupportedMediaType, "a job is sent as application/json")
        }
        do {
            return try await request.body.collect(upTo: Submission.jsonLimit)
        } catch is NIOTooManyBytesError {
            throw APIFailure(.contentTooLarge, "a job has at most \(Submission.jsonLimit) bytes")
        } catch {
            throw APIFailure(.badRequest, "the job did not come whole")
        }
    }

    /// Server-sent events (HTML, "Server-sent events"): one for each event of the job, until it has ended.
    private func events(_ id: JobID, _ request: Request) async throws -> Response {
        _ = try await parts.coordinator.listing(id)
        let history = FollowedHistory(lastEventID: request.headers[HTTPField.Name("Last-Event-ID")!])
        guard let follower = Follower.place(in: followers) else {
            throw APIFailure(.serviceUnavailable, "too many follow jobs already", [.retryAfter: "10"])
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { [history] writer in
                defer { withExtendedLifetime(follower) {} }
                var history = history
                var answered = ContinuousClock.now
                while !Task.isCancelled {
                    let batch: EventBatch
                    do {
                        batch = try await parts.coordinator.events(EventsRequest(job: id, from: history.next))
                        answered = .now
                    } catch let error as RemoteError
                        where (error.isAboutUnknownJob || error.kind == .noSuchActor)
                        && answered.duration(to: .now) < API.takeOverPatience
                    {
                        // Another node is about to take the job over.
                        try await writer.write(ByteBuffer(string: ": waiting for the node with the job\n\n"))
                        try await Task.sleep(for: .milliseconds(500))
                        continue
                    }
                    guard let events = history.take(batch) else { continue }
                    var text = ""
                    for event in events {
                        guard let id = history.show(event) else { continue }
                        text += "id: \(id)\ndata: \(try JSONLine.encode(EventLine(event, subject: nil)))\n\n"
                    }
                    // A comment finds out whether anybody is still there.
                    try await writer.write(ByteBuffer(string: text.isEmpty ? ": still running\n\n" : text))
                    if events.contains(where: \.kind.isEnd) { break }
                    // Where the job is at no node now, that is waited for above.
                    if events.isEmpty, (try? await parts.coordinator.listing(id))?.state != nil { break }
                }
                try await writer.finish(nil)
            })
    }

    /// How long those who follow a job wait for another node to take it over.
    private static let takeOverPatience = Duration.seconds(30)
}

extension JobEvent.Kind {
    fileprivate var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}
