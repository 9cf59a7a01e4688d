import SkyCore

/// What a request asks for.
enum APIRoute: Hashable {
    case health, readiness, metrics
    case nodes
    case jobs, submit
    case job(JobID), delete(JobID)
    case events(JobID)

    /// What is wrong with method or path.
    enum Problem: Error, Hashable {
        case notFound
        /// The path does not have this method. It has these.
        case method([String])
    }

    /// Reads method and path. A slash at the end of the path is ignored.
    init(method: String, path: String) throws(Problem) {
        let parts = path.split(separator: "/").map(String.init)
        // A resource that can only be looked at may be looked at without its body.
        let isGet = method == "GET" || method == "HEAD"
        func get(_ route: APIRoute) throws(Problem) -> APIRoute {
            guard isGet else { throw .method(["GET", "HEAD"]) }
            return route
        }
        switch parts {
        case ["healthz"]: self = try get(.health)
        case ["readyz"]: self = try get(.readiness)
        case ["metrics"]: self = try get(.metrics)
        case ["v1", "nodes"]: self = try get(.nodes)
        case ["v1", "jobs"]:
            guard isGet || method == "POST" else { throw .method(["GET", "HEAD", "POST"]) }
            self = isGet ? .jobs : .submit
        case _ where parts.count == 3 && parts.starts(with: ["v1", "jobs"]):
            guard let job = JobID(parts[2]) else { throw .notFound }
            guard isGet || method == "DELETE" else { throw .method(["GET", "HEAD", "DELETE"]) }
            self = isGet ? .job(job) : .delete(job)
        case _ where parts.count == 4 && parts.starts(with: ["v1", "jobs"]) && parts[3] == "events":
            guard let job = JobID(parts[2]) else { throw .notFound }
            guard method == "GET" else { throw .method(["GET"]) }
            self = .events(job)
        default: throw .notFound
        }
    }

    /// Whether anybody may ask for it, as programs that watch over a node do.
    var isOpen: Bool { self == .health || self == .readiness }

    /// Whether it is about jobs, which the coordinator has.
    var isAboutJobs: Bool {
        switch self {
        case .jobs, .submit, .job, .delete, .events: true
        case .health, .readiness, .metrics, .nodes: false
        }
    }

    /// Whether it changes something.
    var isChange: Bool {
        switch self {
        case .submit, .delete: true
        default: false
        }
    }
}

extension JobID {
    /// Sixteen hexadecimal digits, as `description` writes them.
    init?(_ text: String) {
        guard text.utf8.count == 16, let value = UInt64(text, radix: 16), text.first != "+" else { return nil }
        self.init(rawValue: value)
    }
}
