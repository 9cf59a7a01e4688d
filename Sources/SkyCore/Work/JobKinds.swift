import NIOConcurrencyHelpers
import Transport

/// The kinds of jobs by the names that they have on the wire and in journals.
package struct JobKinds: Sendable {
    /// Makes a value of what a decoder has.
    typealias Make<Value> = @Sendable (any Decoder) throws -> Value

    private var requests: [String: Make<any KindRequest>] = [:]
    private var work: [String: Make<any KindWork>] = [:]
    private var results: [String: Make<any KindResult>] = [:]
    private var events: [String: Make<any KindEvent>] = [:]
    /// What clients may fetch of jobs of all kinds.
    private var methods: [Method] = []

    init(_ kinds: [any JobKind.Type]) {
        for kind in kinds {
            add(request: kind.request)
            for type in kind.work { add(work: type) }
            for type in kind.results { add(result: type) }
            for type in kind.events { add(event: type) }
            methods += kind.methods
        }
    }

    private mutating func add<Request: KindRequest>(request: Request.Type) {
        requests[Request.name] = { decoder in
            let values = try decoder.container(keyedBy: CaseName.self).nestedContainer(
                keyedBy: CaseName.self, forKey: CaseName(Request.name))
            return try values.decode(Request.self, forKey: .value)
        }
    }

    private mutating func add<Work: KindWork>(work type: Work.Type) {
        for name in Work.cases { work[name] = { try Work(from: $0) } }
    }

    private mutating func add<Result: KindResult>(result type: Result.Type) {
        for name in Result.cases { results[name] = { try Result(from: $0) } }
    }

    private mutating func add<Event: KindEvent>(event type: Event.Type) {
        for name in Event.cases { events[name] = { try Event(from: $0) } }
    }

    private static let known = JobKinds(builtIn)
    private static let added = NIOLockedValueBox(JobKinds([]))

    /// Kinds that are not built in, for this process. What clients may fetch of them is not added to the coordinator's methods.
    package static func add(_ kinds: [any JobKind.Type]) { added.withLockedValue { $0 = JobKinds(kinds) } }

    /// What clients may fetch of jobs of the built-in kinds.
    static var methods: [Method] { known.methods }

    static func request(from decoder: any Decoder) throws -> any KindRequest {
        let name = try CaseName.of(decoder)
        return try made(name, by: known.requests[name] ?? added.withLockedValue { $0.requests[name] }, decoder)
    }

    static func work(from decoder: any Decoder) throws -> any KindWork {
        let name = try CaseName.of(decoder)
        return try made(name, by: known.work[name] ?? added.withLockedValue { $0.work[name] }, decoder)
    }

    static func result(from decoder: any Decoder) throws -> any KindResult {
        let name = try CaseName.of(decoder)
        return try made(name, by: known.results[name] ?? added.withLockedValue { $0.results[name] }, decoder)
    }

    /// `nil` for an event that jobs of all kinds have.
    static func event(from decoder: any Decoder) throws -> (any KindEvent)? {
        let name = try CaseName.of(decoder)
        return try (known.events[name] ?? added.withLockedValue { $0.events[name] })?(decoder)
    }

    private static func made<Value>(
        _ name: String, by make: Make<Value>?, _ decoder: any Decoder
    ) throws -> Value {
        guard let make else { throw CaseName.unknown(name, at: decoder) }
        return try make(decoder)
    }
}

/// The name under which a value of one of several types is coded: that of an enum's case.
struct CaseName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }

    init?(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }

    /// What an enum without a label for its one value calls that.
    static let value = CaseName("_0")

    /// Which case a decoder is at.
    static func of(_ decoder: any Decoder) throws -> String {
        let names = try decoder.container(keyedBy: CaseName.self).allKeys
        guard let name = names.first, names.count == 1 else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "one of several kinds has exactly one name"))
        }
        return name.stringValue
    }

    /// What is thrown for a name that there is not.
    static func unknown(_ name: String, at decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "there is no \(name) in this version"))
    }
}
