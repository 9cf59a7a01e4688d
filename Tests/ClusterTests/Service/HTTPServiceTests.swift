import Foundation
import FoundationNetworking
import Glibc
import Testing

/// A node's HTTP door, from outside.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct HTTPServiceTests {
    private struct Answer {
        var status: Int
        var text: String
        var headers: [AnyHashable: Any]
    }

    /// Runs `body` with a node that answers HTTP at an address.
    private func serving(
        _ options: [String] = [], _ body: (_ http: String, _ address: String) async throws -> Void
    ) async throws {
        let folder = try ScratchFolder()
        let node = try RunningProcess(
            Skynode.path,
            [
                "serve", "--name", "door", "--listen", "127.0.0.1:0", "--slots", "2", "--no-multicast", "--data",
                folder.file("data"), "--http", "127.0.0.1:0",
            ] + options)
        var lines = node.lines.makeAsyncIterator()
        do {
            let address = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
            let published = try #require(await lines.next())
            #expect(published.hasPrefix("skynode door answers HTTP on 127.0.0.1:"))
            try await body("http://" + (try #require(published.split(separator: " ").last)), address)
        } catch {
            node.send(SIGKILL)
            _ = await node.end()
            throw error
        }
        node.send(SIGTERM)
        #expect(await node.end().status == 0)
    }

    private func ask(
        _ method: String, _ address: String, _ body: String? = nil, token: String? = nil,
        type: String = "application/json", host: String? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: try #require(URL(string: address)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if body != nil { request.setValue(type, forHTTPHeaderField: "Content-Type") }
        if let host { request.setValue(host, forHTTPHeaderField: "Host") }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(
            status: http.statusCode, text: String(decoding: data, as: UTF8.self), headers: http.allHeaderFields)
    }

    private func token(_ folder: ScratchFolder) throws -> (file: String, text: String) {
        let text = "0123456789abcdef0123456789abcdef"
        let file = folder.file("token")
        #expect(
            FileManager.default.createFile(
                atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
        return (file, text)
    }

    @Test func `a stopping node answers while its tasks run, and is not ready`() async throws {
        let folder = try ScratchFolder()
        let node = try RunningProcess(
            Skynode.path,
            [
                "serve", "--listen", "127.0.0.1:0", "--slots", "1", "--no-multicast", "--data", folder.file("data"),
                "--http", "127.0.0.1:0", "--stop-grace", "60s",
            ])
        defer { node.send(SIGKILL) }
        var lines = node.lines.makeAsyncIterator()
        let listening = try #require(await lines.next()?.split(separator: " ").last.map(String.init))
        let http = "http://" + (try #require(await lines.next()?.split(separator: " ").last))
        #expect(try await ask("GET", http + "/readyz").status == 200)
        // With one slot, the second runs once the first is done.
        let job = try RunningProcess(
            Skynode.path,
            ["simulate", "--node", listening, "--tasks", "2", "--duration", "3s", "--format", "json"])
        #expect(await EventLine.first(["completed"], of: job) != nil)
        node.send(SIGTERM)
        try await node.untilErrors { $0.contains { $0.contains("stopping; what runs may go on for a while") } }
        #expect(try await ask("GET", http + "/readyz").status == 503)
        #expect(try await ask("GET", http + "/healthz").status == 200)
        let metrics = try await ask("GET", http + "/metrics").text
        #expect(metrics.contains("\nskynode_draining 1\n") && metrics.contains("\nskynode_tasks_running 1\n"))
        #expect(await node.end().status == 0)
        job.send(SIGKILL)
        _ = await job.end()
    }

    @Test func `without a token HTTP answers questions, and changes nothing`() async throws {
        try await serving { http, _ in
            #expect(try await ask("GET", http + "/healthz").text == "ok\n")
            let metrics = try await ask("GET", http + "/metrics")
            #expect(metrics.status == 200)
            #expect(metrics.text.contains("\nskynode_slots 2\n"))
            #expect(metrics.text.contains("# TYPE skynode_transport_calls_total counter\n"))
            let nodes = try await ask("GET", http + "/v1/nodes")
            #expect(nodes.text.contains(#""name":"door""#))
            #expect(try await ask("GET", http + "/v1/jobs").text == "{\"jobs\":[]}\n")
            #expect(try await ask("POST", http + "/v1/jobs", #"{"kind":"simulate"}"#).status == 403)
            #expect(try await ask("GET", http + "/nothing").status == 404)
            #expect(try await ask("DELETE", http + "/metrics").status == 405)
        }
    }

    @Test func `with a token jobs are submitted, followed and deleted`() async throws {
        let folder = try ScratchFolder()
        let (file, token) = try token(folder)
        try await serving(["--http-token", file]) { http, address in
            #expect(try await ask("GET", http + "/healthz").status == 200, "probes have no token")
            for wrong in [nil, "", "x", token + "x"] {
                #expect(try await ask("GET", http + "/v1/jobs", token: wrong).status == 401)
            }
            let made = try await ask(
                "POST", http + "/v1/jobs", #"{"kind":"simulate","tasks":5,"seconds":0.05}"#, token: token)
            #expect(made.status == 201)
            let place = try #require(made.headers["Location"] as? String)
            // The request ends with the job.
            let events = try await ask("GET", http + place + "/events", token: token)
            #expect(events.text.components(separatedBy: #""event":"completed""#).count == 6)
            #expect(events.text.contains(#""event":"ended""#))
            let job = try await ask("GET", http + place, token: token)
            #expect(job.text.contains(#""state":"done""#) && job.text.contains(#""completed":5"#))
            // The command knows the job too.
            let list = try await Skynode.run("jobs", "list", "--node", address, "--format", "json")
            #expect(list.output.count == 1)
            #expect(try await ask("DELETE", http + place, token: token).status == 204)
            #expect(try await ask("GET", http + place, token: token).status == 404)
            #expect(try await ask("DELETE", http + place, token: token).status == 404)
            #expect(try await ask("POST", http + "/v1/jobs", "tasks=5", token: token, type: "text/plain").status == 415)
            let once = #"{"kind":"simulate","tasks":1,"seconds":0,"token":"once"}"#
            for _ in 0..<2 { #expect(try await ask("POST", http + "/v1/jobs", once, token: token).status == 201) }
            let other = #"{"kind":"simulate","tasks":2,"seconds":0,"token":"once"}"#
            #expect(
                try await ask("POST", http + "/v1/jobs", other, token: token).status == 409,
                "the token is that of another job")
            let long = #"{"kind":"simulate","token":"\#(String(repeating: "x", count: 70_000))"}"#
            #expect(try await ask("POST", http + "/v1/jobs", long, token: token).status == 413)
            #expect(try await ask("POST", http + "/v1/jobs", "{", token: token).status == 400)
        }
    }

    /// Sockets that send `start` and then nothing, open until the value is gone.
    private final class SilentClients {
        private var sockets: [Int32] = []

        init(_ count: Int, to address: String, sending start: String) throws {
            let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
            for _ in 0..<count {
                let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
                var place = sockaddr_in()
                place.sin_family = sa_family_t(AF_INET)
                place.sin_port = port.bigEndian
                place.sin_addr.s_addr = inet_addr("127.0.0.1")
                let isConnected = withUnsafePointer(to: &place) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    }
                }
                try #require(isConnected)
                _ = send(socket, start, start.utf8.count, Int32(MSG_NOSIGNAL))
                sockets.append(socket)
            }
        }

        deinit { for socket in sockets { close(socket) } }
    }

    @Test(arguments: ["", "GET /healthz HTTP/1.1\r\nHost: lo"])
    func `three hundred silent or half-finished connections shut nobody out`(start: String) async throws {
        let folder = try ScratchFolder()
        let (file, token) = try token(folder)
        try await serving(["--http-token", file]) { http, _ in
            let clients = try SilentClients(300, to: http, sending: start)
            for _ in 0..<20 {
                #expect(try await ask("GET", http + "/healthz").status == 200)
                #expect(try await ask("GET", http + "/v1/jobs", token: token).status == 200)
            }
            withExtendedLifetime(clients) {}
        }
    }

    @Test func `a job does not reveal the content of a file that is not an image`() async throws {
        let folder = try ScratchFolder()
        let (file, token) = try token(folder)
        let secret = folder.file("shadow")
        try "hidden:x:0:0".write(toFile: secret, atomically: true, encoding: .utf8)
        try await serving(["--http-token", file]) { http, _ in
            let made = try await ask(
                "POST", http + "/v1/jobs", #"{"kind":"scan","path":"\#(secret)"}"#, token: token)
            let place = try #require(made.headers["Location"] as? String)
            let events = try await ask("GET", http + place + "/events", token: token)
            let job = try await ask("GET", http + place, token: token)
            #expect(job.text.contains(#""state":"badInput""#) && job.text.contains("not a FITS file"))
            #expect(!events.text.contains("hidden") && !job.text.contains("hidden"))
        }
    }

    @Test func `a host name that is not the node's is refused unless it is configured`() async throws {
        for (options, status) in [([String](), 421), (["--http-host", "*.example.org"], 200)] {
            try await serving(options) { http, _ in
                for path in ["/healthz", "/v1/jobs"] {
                    let answer = try await ask("GET", http + path, host: "sky.example.org:7422")
                    #expect(answer.status == status)
                }
            }
        }
    }

    @Test func `a client that asks too often is asked to wait`() async throws {
        try await serving { http, _ in
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<400 { group.addTask { try await ask("GET", http + "/v1/jobs").status } }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(Set(answers.keys).isSubset(of: [200, 429]))
            #expect((answers[200] ?? 0) >= 200)
        }
    }

    @Test func `HTTP beyond this machine needs a token, and a bad address is an error`() async throws {
        let folder = try ScratchFolder()
        let trials: [([String], String)] = [
            (["--http", "0.0.0.0:7422"], "skynode: --http 0.0.0.0:7422: beyond this machine, HTTP needs --http-token"),
            (
                ["--http", "here"],
                "skynode: --http here: not an address of the form HOST:PORT; did you mean here:7422?"
            ),
            (["--http-host", "a b"], "skynode: --http-host a b: not a host's name, which has no port and no blanks"),
            (["--http-token", folder.file("none")], "skynode: --http-token: \(folder.file("none")): no such file"),
        ]
        for (options, message) in trials {
            let ended = try await Skynode.run(["serve", "--listen", "127.0.0.1:0"] + options)
            #expect(ended.status == 2)
            #expect(ended.errors == [message])
        }
    }
}
