import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import SkyCore
import Transport

/// Answers requests about a node and its jobs.
struct API {
    let node: Node
    let metrics: MetricsRegistry
    /// Who knows it may do everything; without one, reading is free and nothing can be changed.
    let token: String?
    private let limits = NIOLockedValueBox(Limits())
    private let epoch = ContinuousClock.now
    /// The node starts with its API.
    private let started = Double(WallClock.milliseconds) / 1000
    /// Answers by status.
    private let answered = NIOLockedValueBox<[Int: Int]>([200: 0, 401: 0, 403: 0])

    fileprivate struct Limits {
        var requests = TokenBucket(rate: 100, capacity: 200)
        /// Those that are followed now.
        var followers = 0
    }

    /// Followers of jobs at a time.
    fileprivate static let followerLimit = 32
    /// How long a node that is well takes to answer at most.
    private static let pulseLimit = Duration.seconds(5)

    init(node: Node, metrics: MetricsRegistry, token: String?) {
        (self.node, self.metrics, self.token) = (node, metrics, token)
    }

    func respond(to request: Request) async -> Response {
        var response: Response
        do {
            response = try await answer(request)
            if request.method == .head { response.body = ResponseBody() }
        } catch {
            response = APIFailure(error).response
        }
        answered.withLockedValue { $0[response.status.code, default: 0] += 1 }
        return response
    }

    private func answer(_ request: Request) async throws -> Response {
        let route = try APIRoute(method: request.method.rawValue, path: request.uri.path)
        try authorize(request, route)
        let time = epoch.duration(to: .now)
        guard limits.withLockedValue({ $0.requests.take(now: time) }) else {
            throw APIFailure(.tooManyRequests, "too many requests; ask again in a second", [.retryAfter: "1"])
        }
        switch route {
        case .health: return try await health()
        case .readiness:
            guard let pulse = await pulse(), pulse.isReady else {
                throw APIFailure(.serviceUnavailable, "this node takes no new work")
            }
            return .text("ready\n")
        case .metrics: return .text(await prometheus(), type: "text/plain; version=0.0.4; charset=utf-8")
        case .nodes:
            struct Body: Encodable { var nodes: [NodeLine] }
            return .json(Body(nodes: try await node.coordinator.nodes().map(NodeLine.init)))
        case .jobs:
            struct Body: Encodable { var jobs: [JobLine] }
            return .json(Body(jobs: try await node.coordinator.list().map { JobLine($0) }))
        case .job(let id): return .json(JobLine(try await job(id), try await node.coordinator.details(id)))
        case .submit: return try await submit(request)
        case .delete(let id):
            _ = try await job(id)
            try await node.coordinator.delete(id)
            return Response(status: .noContent)
        case .events(let id): return try await events(id, request)
        }
    }

    // MARK: - Who may ask

    private func authorize(_ request: Request, _ route: APIRoute) throws {
        guard !route.isOpen else { return }
        guard let token else {
            guard !route.isChange else {
                throw APIFailure(.forbidden, "without --http-token nothing can be changed by HTTP")
            }
            return
        }
        let given = request.headers[.authorization] ?? ""
        guard given.lowercased().hasPrefix("bearer "), API.isSame(String(given.dropFirst(7)), token) else {
            throw APIFailure(.unauthorized, "a bearer token is needed", [.wwwAuthenticate: "Bearer realm=\"skynode\""])
        }
    }

    /// Takes as long whatever the difference.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var difference = UInt8(one.count == other.count ? 0 : 1)
        for (index, byte) in other.enumerated() { difference |= byte ^ (index < one.count ? one[index] : 0) }
        return difference == 0
    }

    // MARK: - How it is

    /// `nil` where a part of the node does not answer in time.
    private func pulse() async -> NodePulse? {
        await API.answer(within: API.pulseLimit) { [node] in await node.pulse() }
    }

    /// What a part says, which may hang; `nil` where it has said nothing in time.
    static func answer<Value: Sendable>(
        within limit: Duration, _ ask: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let answer = NIOLockedValueBox<Value?>(nil)
        let answered = Latch()
        // Not a child: a part that hangs cannot be cancelled, and a group would wait for it.
        Task {
            let value = await ask()
            answer.withLockedValue { $0 = value }
            answered.open()
        }
        await answered.wait(atMost: limit)
        return answer.withLockedValue { $0 }
    }

    private func health() async throws -> Response {
        guard await pulse() != nil else {
            throw APIFailure(.serviceUnavailable, "a part of this node has not answered for \(API.pulseLimit)")
        }
        return .text("ok\n")
    }

    private func prometheus() async -> String {
        var text = PrometheusText()
        text.add(
            "skynode_build_info", "The program and the node, as labels of 1.", "gauge",
            [(["version": SkyNetVersion.current, "node": node.system.name], 1)])
        // Where a part hangs, the others are not asked either: Prometheus waits for ten seconds.
        let pulse = await pulse()
        if let pulse {
            let gauges: [(String, String, Int)] = [
                ("skynode_slots", "Tasks that may run at once.", pulse.slots),
                ("skynode_tasks_running", "Tasks that run.", pulse.running),
                ("skynode_nodes", "Nodes in the cluster, this one among them.", pulse.nodes),
                ("skynode_draining", "Whether it takes no new work.", pulse.isReady ? 0 : 1),
                ("skynode_paused", "Whether its jobs wait because nothing can be stored.", pulse.isPaused ? 1 : 0),
            ]
            for (name, help, value) in gauges { text.add(name, help, "gauge", [([:], Double(value))]) }
            text.add(
                "skynode_attempts_total", "Tries of tasks that ended on this node, by how.", "counter",
                series(
                    "result",
                    [
                        ("completed", pulse.attempts.completed), ("fault", pulse.attempts.faults),
                        ("crash", pulse.attempts.crashes), ("bad_input", pulse.attempts.badInputs),
                        ("unavailable", pulse.attempts.unavailable),
                    ]))
            text.add(
                "skynode_tasks_total", "Tasks of the jobs that this node coordinates, by what became of them.",
                "counter",
                series(
                    "result",
                    [
                        ("completed", pulse.tasks.completed), ("cached", pulse.tasks.cached),
                        ("failed", pulse.tasks.failed),
                    ]))
            text.add(
                "skynode_task_retries_total", "Further tries of tasks of those jobs.", "counter",
                [([:], Double(pulse.tasks.retries))])
        }
        text.add(
            "skynode_clock_offset_seconds", "How far another node's clock is ahead of this one's.", "gauge",
            clockOffsets().map { (["node": $0.key], $0.value) })
        let members = node.system.members
        text.add(
            "skynode_members", "Other nodes of the cluster, by how they are.", "gauge",
            series(
                "state", NodeLine.states.map { state in (state, members.count { NodeLine.state($0) == state }) }))
        if pulse != nil, let jobs = try? await node.coordinator.list() {
            let states = Dictionary(grouping: jobs) { JobTable.state($0) }.mapValues(\.count)
            text.add(
                "skynode_jobs", "Jobs that this node coordinates or remembers, by state.", "gauge",
                series(
                    "state",
                    ["running", "paused", "done", "failed", "cancelled", "badInput"].map { state in
                        (state == "badInput" ? "bad_input" : state, states[state] ?? 0)
                    }))
        }
        if pulse != nil, let storage = try? await node.coordinator.storage() {
            text.add("skynode_journal_bytes", "What jobs and results take.", "gauge", [([:], Double(storage.bytes))])
            text.add("skynode_journal_limit_bytes", "What they may take.", "gauge", [([:], Double(storage.limit))])
            text.add(
                "skynode_cache_bytes", "Earlier results among that, which answer later tasks.", "gauge",
                [([:], Double(storage.cacheBytes))])
            text.add(
                "skynode_cache_limit_bytes", "What they may take.", "gauge", [([:], Double(storage.cacheLimit))])
            text.add(
                "skynode_cache_lookups_total", "Tasks that were looked for among earlier results.", "counter",
                series("result", [("hit", storage.hits), ("miss", storage.misses)]))
            text.add(
                "skynode_cache_evictions_total", "Earlier results that made room for later ones.", "counter",
                [([:], Double(storage.evictions))])
        }
        let usage = ProcessUsage()
        text.add(
            "process_cpu_seconds_total", "Processor time of the daemon, without its workers.", "counter",
            [([:], usage.processor)])
        text.add("process_resident_memory_bytes", "Memory of the daemon.", "gauge", [([:], usage.residentBytes)])
        text.add("process_open_fds", "Open file descriptors of the daemon.", "gauge", [([:], usage.descriptors)])
        text.add("process_max_fds", "How many it may have.", "gauge", [([:], usage.descriptorLimit)])
        text.add(
            "process_start_time_seconds", "When it started, since 1970.", "gauge", [([:], started)])
        text.add(
            "skynode_http_responses_total", "Answers to HTTP requests, by status.", "counter",
            answered.withLockedValue { $0 }.sorted { $0.key < $1.key }.map {
                (["status": "\($0.key)"], Double($0.value))
            })
        text.add(metrics)
        return text.text
    }

    private func series(_ label: String, _ values: [(String, Int)]) -> [(labels: [String: String], value: Double)] {
        values.map { ([label: $0.0], Double($0.1)) }
    }

    /// By name, in order; of several nodes of one name the one that is furthest off.
    private func clockOffsets() -> [(key: String, value: Double)] {
        let known = node.system.members.compactMap { member in
            node.system.clockOffset(of: member.node).map { (member.name, $0.inSeconds) }
        }
        return Dictionary(known) { abs($0) > abs($1) ? $0 : $1 }.sorted { $0.key < $1.key }
    }

    // MARK: - Jobs

    private func job(_ id: JobID) async throws -> JobListing {
        guard let job = try await node.coordinator.list().first(where: { $0.id == id }) else {
            throw APIFailure(.notFound, "there is no job \(id)")
        }
        return job
    }

    private func submit(_ request: Request) async throws -> Response {
        let type = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() } ?? ""
        // A page in a browser can send others without asking.
        guard type == "application/json" else {
            throw APIFailure(.unsupportedMediaType, "a job is sent as application/json")
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: JobBody.sizeLimit)
        } catch is NIOTooManyBytesError {
            throw APIFailure(.contentTooLarge, "a job has at most \(JobBody.sizeLimit) bytes")
        }
        let submission = try JobBody(body).submission()
        let id = try await node.coordinator.submit(submission)
        return .json(JobLine(try await job(id)), status: .created, headers: [.location: "/v1/jobs/\(id)"])
    }

    /// Server-sent events (HTML, "Server-sent events"): one for each event of the job, until it has ended.
    private func events(_ id: JobID, _ request: Request) async throws -> Response {
        _ = try await job(id)
        let last = request.headers[HTTPField.Name("Last-Event-ID")!].flatMap { Int($0) }
        let first = max(0, last.map { $0 &+ 1 } ?? 0)
        guard let follower = Follower.place(in: limits) else {
            throw APIFailure(.serviceUnavailable, "too many follow jobs already", [.retryAfter: "10"])
        }
        let coordinator = node.coordinator
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                defer { withExtendedLifetime(follower) {} }
                var next = first
                while !Task.isCancelled {
                    let batch = try await coordinator.events(EventsRequest(job: id, from: next))
                    next = max(next, batch.next)
                    var text = ""
                    for event in batch.events {
                        text += "id: \(event.number)\ndata: \(try JSONLine.encode(EventLine(event, subject: nil)))\n\n"
                    }
                    // A comment finds out whether anybody is still there.
                    try await writer.write(ByteBuffer(string: text.isEmpty ? ": still running\n\n" : text))
                    if batch.events.contains(where: \.kind.isEnd) { break }
                    if batch.events.isEmpty, try await coordinator.list().first(where: { $0.id == id })?.state != nil {
                        break
                    }
                }
                try await writer.finish(nil)
            })
    }
}

/// The place of somebody who follows a job. It is free again with the answer, also with one that nobody has waited for.
private final class Follower: Sendable {
    private let limits: NIOLockedValueBox<API.Limits>

    private init(_ limits: NIOLockedValueBox<API.Limits>) { self.limits = limits }

    /// `nil` where all places are taken.
    static func place(in limits: NIOLockedValueBox<API.Limits>) -> Follower? {
        let isFree = limits.withLockedValue { limits in
            guard limits.followers < API.followerLimit else { return false }
            limits.followers += 1
            return true
        }
        return isFree ? Follower(limits) : nil
    }

    deinit { limits.withLockedValue { $0.followers -= 1 } }
}

extension JobEvent.Kind {
    fileprivate var isEnd: Bool {
        if case .ended = self { true } else { false }
    }
}
