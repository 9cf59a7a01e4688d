package import Base
import NIOConcurrencyHelpers
import Transport

/// The kinds of jobs, by the names that they have on the wire and in journals.
package struct JobKinds: Sendable {
    /// Makes a value from a decoder.
    typealias Make<Value> = @Sendable (any Decoder) throws -> Value

    private var requests: [String: Make<any KindRequest>] = [:]
    private var work: [String: Make<any KindWork>] = [:]
    private var results: [String: Make<any KindResult>] = [:]
    private var events: [String: Make<any KindEvent>] = [:]
    private var pages: [String: any ResultsPage.Type] = [:]
    /// The kinds of jobs that are asked for in JSON, in the order in which they are listed.
    private var written: [any JSONRequest.Type] = []
    /// The methods by which clients of earlier versions fetch the results of jobs.
    private var methods: [Method] = []
    private var tools: [any NodeTool.Type] = []

    init(_ kinds: [any JobKind.Type]) { add(kinds) }

    private mutating func add(_ kinds: [any JobKind.Type]) {
        for kind in kinds {
            add(request: kind.request)
            if let type = kind.request as? any JSONRequest.Type, !written.contains(where: { $0.word == type.word }) {
                written.append(type)
            }
            for type in kind.work { add(work: type) }
            for type in kind.results { add(result: type) }
            for type in kind.events { add(event: type) }
            for type in kind.pages { pages[type.name] = type }
            methods += kind.methods
            tools += kind.tools
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

    /// What `install` was given. It is read once, when the kinds are first used.
    private static let beginning = NIOLockedValueBox<
        (kinds: [any JobKind.Type], arithmetic: @Sendable () -> Arithmetic)
    >(
        ([], { Arithmetic("") }))
    private static let known = JobKinds(beginning.withLockedValue { $0.kinds })
    /// What decides the results of all kinds besides their tasks. Nodes whose arithmetic differs do not work on one job that needs
    /// equal results (`JobOptions.needsAlike`).
    package static let arithmetic = beginning.withLockedValue { $0.arithmetic }()

    /// Sets the kinds of jobs of this program, before anything else of this module is used.
    ///
    /// - Parameter arithmetic: what decides their results besides their tasks; it is called once.
    package static func install(_ kinds: [any JobKind.Type], arithmetic: @escaping @Sendable () -> Arithmetic) {
        beginning.withLockedValue { $0 = (kinds, arithmetic) }
    }

    private static let added = NIOLockedValueBox(JobKinds([]))

    /// Adds kinds that are not installed, for this process.
    package static func add(_ kinds: [any JobKind.Type]) { added.withLockedValue { $0.add(kinds) } }

    /// The methods by which clients of earlier versions fetch the results of jobs of the installed kinds.
    static var methods: [Method] { known.methods }

    private static var allWritten: [any JSONRequest.Type] { known.written + added.withLockedValue { $0.written } }

    /// The words for the kinds of jobs that are asked for in JSON.
    package static var words: [String] { allWritten.map { $0.word } }

    /// The request of the kind that has this word in JSON; `nil` where none has.
    static func request(called word: String) -> (any JSONRequest.Type)? { allWritten.first { $0.word == word } }

    /// The page of results of this name; `nil` where no kind has it.
    static func page(named name: String) -> (any ResultsPage.Type)? {
        known.pages[name] ?? added.withLockedValue { $0.pages[name] }
    }

    /// Makes the tools of a node that the kinds name.
    static func tools(_ site: NodeToolSite) -> NodeTools {
        NodeTools((known.tools + added.withLockedValue { $0.tools }).map { $0.init(site) })
    }

    static func request(from decoder: any Decoder) throws -> any KindRequest {
        try made(from: decoder) { name in known.requests[name] ?? added.withLockedValue { $0.requests[name] } }
    }

    static func work(from decoder: any Decoder) throws -> any KindWork {
        try made(from: decoder) { name in known.work[name] ?? added.withLockedValue { $0.work[name] } }
    }

    static func result(from decoder: any Decoder) throws -> any KindResult {
        try made(from: decoder) { name in known.results[name] ?? added.withLockedValue { $0.results[name] } }
    }

    /// Decodes an event of a kind. Returns `nil` for an event that jobs of all kinds have.
    static func event(from decoder: any Decoder) throws -> (any KindEvent)? {
        let names = try CaseName.all(of: decoder)
        let makes = names.compactMap { name in known.events[name] ?? added.withLockedValue { $0.events[name] } }
        guard let make = makes.first else { return nil }
        guard makes.count == 1 else { throw CaseName.notOne(names, at: decoder) }
        return try make(decoder)
    }

    /// Decodes a value under the one name that this version knows. Names that it does not know may stand beside it, as in
    /// any other message.
    private static func made<Value>(from decoder: any Decoder, _ find: (String) -> Make<Value>?) throws -> Value {
        let names = try CaseName.all(of: decoder)
        let makes = names.compactMap(find)
        guard let make = makes.first, makes.count == 1 else { throw CaseName.notOne(names, at: decoder) }
        return try make(decoder)
    }
}

/// The name under which a value of one of several types is coded: the name of an enum's case.
struct CaseName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }

    init?(stringValue: String) { self.stringValue = stringValue }

    init?(intValue: Int) { nil }

    /// The name that `Codable` gives to the one value of an enum's case if that value has no label.
    static let value = CaseName("_0")

    /// The names at the decoder's position.
    static func all(of decoder: any Decoder) throws -> [String] {
        try decoder.container(keyedBy: CaseName.self).allKeys.map(\.stringValue)
    }

    /// The error that is thrown if not exactly one of the names is known.
    static func notOne(_ names: [String], at decoder: any Decoder) -> DecodingError {
        let words =
            names.count == 1 ? "there is no \(names[0]) in this version" : "one of several kinds has exactly one name"
        return .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: words))
    }
}
