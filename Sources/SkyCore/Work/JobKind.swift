package import Base
package import NIOCore
package import Transport

/// A kind of job, with everything that the cluster has to know about it. `docs/EXTENDING.md` shows how one is made.
///
/// The coordinator, the journal, the scheduler, the workers and the HTTP interface know jobs and tasks, but not what these
/// are about. Everything that they need to know about that is declared here. `JobKinds.builtIn` lists the kinds that there
/// are.
package protocol JobKind: Sendable {
    /// The request of a job of this kind.
    static var request: any KindRequest.Type { get }
    /// The work that its tasks do.
    static var work: [any KindWork.Type] { get }
    /// The results of its tasks.
    static var results: [any KindResult.Type] { get }
    /// The events that those who watch a job get, in addition to the events of every job.
    static var events: [any KindEvent.Type] { get }
    /// What a client may fetch from a job that has ended.
    static var pages: [any ResultsPage.Type] { get }
    /// Methods of the `Coordinator` by which earlier versions fetched that.
    static var methods: [Method] { get }
    /// What its work needs in each node's daemon.
    static var tools: [any NodeTool.Type] { get }
}

extension JobKind {
    package static var events: [any KindEvent.Type] { [] }
    package static var pages: [any ResultsPage.Type] { [] }
    package static var methods: [Method] { [] }
    package static var tools: [any NodeTool.Type] { [] }
}

/// What a job is asked to do. Journals keep it and later versions read it, so a property that is added must be optional.
package protocol KindRequest: Codable, Sendable {
    /// The name of the kind in journals and on the wire. It never changes.
    static var name: String { get }
    /// The name of such a job for people: "/data/m13.fits".
    var title: String { get }
    /// - Throws: `SkyError` of kind `badInput`, in words for the person who submitted the job.
    func validate() throws(SkyError)
    /// Adjusts the options that were asked for to the needs of the kind.
    func scheduling(_ options: JobOptions) -> JobOptions
    /// The longest time of one attempt, where nobody says anything else; `nil` for the usual one.
    var taskTimeLimit: Duration? { get }
    /// Which tasks the job has, in which phases.
    func plan() -> any JobPlan
    /// Tells the request that no results of earlier jobs are kept here, so that the results of this job need no keys.
    mutating func goWithoutCache()
    /// The digests of the files that the job needs from those that its command has sent.
    var inputs: Set<[UInt8]> { get }
}

extension KindRequest {
    package func scheduling(_ options: JobOptions) -> JobOptions { options }

    package var taskTimeLimit: Duration? { nil }

    package mutating func goWithoutCache() {}

    package var inputs: Set<[UInt8]> { [] }
}

/// What a task does. The work is idempotent, so that it may be tried again anywhere.
///
/// The type is an enum. Its values are coded under the names of its cases.
package protocol KindWork: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same names.
    static var cases: [String] { get }
    /// - Throws: `InvalidMessage` for values that no coordinator of good faith sends.
    func validate() throws(InvalidMessage)
    /// About how many bytes it takes in memory.
    var byteCount: Int { get }
    /// Whether one message may bring many of them to a node.
    var isSmall: Bool { get }
    /// The process in which the work is done.
    var place: WorkPlace { get }
    /// Fetches what the work will need, while the work waits for a slot.
    func lookAhead(_ tools: NodeTools) async
}

extension KindWork {
    package var byteCount: Int { 1024 }

    package var isSmall: Bool { false }

    package func lookAhead(_ tools: NodeTools) async {}
}

/// The process in which work is done.
package enum WorkPlace {
    /// The work is done in the node's daemon. It is harmless and does not block a thread.
    case daemon(any DaemonWork)
    /// The work is done in a worker process. It may block, and its input may kill the process.
    case worker(any WorkerWork)
}

/// Work that a daemon does itself.
package protocol DaemonWork: Sendable {
    /// The encoded result of work that takes no time; `nil` for work that takes time.
    var resultAtOnce: ByteBuffer? { get }
    /// - Parameters:
    ///   - timeLimit: the time limit of the attempt.
    ///   - slowness: by which factor this node takes longer, as a rehearsal; 0 if the work takes no time.
    /// - Throws: `SkyError`, whose kind says whether another attempt may help.
    func perform(timeLimit: Duration, slowness: Int) async throws -> TaskResult
}

extension DaemonWork {
    package var resultAtOnce: ByteBuffer? { nil }
}

/// Work that a worker process does.
package protocol WorkerWork: Sendable {
    /// Does the work, on the worker's one thread.
    ///
    /// - Throws: `SkyError`, whose kind says whether another attempt may help.
    func perform(with tools: WorkerTools) throws -> TaskResult
}

/// The result of a task.
///
/// The type is an enum. Its values are coded under the names of its cases.
package protocol KindResult: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same names.
    static var cases: [String] { get }
    /// Whether the node that did the work reads the result, or writes its label into it. Any other result goes from a worker process
    /// to the coordinator as the worker encoded it.
    var isForNode: Bool { get }
    /// Writes the node's label into the result. It is called on the node that did the work, if the result is for the node.
    ///
    /// - Parameter node: that node, if it reads files for other nodes; `nil` if it does not.
    mutating func sign(by node: NodeLabel?)
}

extension KindResult {
    package var isForNode: Bool { false }

    package mutating func sign(by node: NodeLabel?) {}
}

/// Something that happened to a job of one kind.
///
/// The type is an enum. Its values are coded under the names of its cases.
package protocol KindEvent: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same names.
    static var cases: [String] { get }
    /// What people read of it; `nil` for nothing.
    var words: String? { get }
    /// What programs read of it: the value of `event` in its object of JSON.
    var name: String { get }
    /// Its other fields in that object, as `EventLine` has none of these names.
    var fields: any Encodable { get }
    /// Whether it comes once in a job. Whoever has heard it does not hear it again of a node that takes the job over.
    var comesOnce: Bool { get }
}

extension KindEvent {
    package var words: String? { nil }

    package var comesOnce: Bool { false }
}

/// The results of a job, for those who fetch them.
package protocol JobResults: Sendable {
    /// About how many bytes they take in memory.
    var byteCount: Int { get }
}

/// A node, with the id of its incarnation and its name.
package struct NodeLabel: Hashable, Sendable {
    package var id: NodeID
    package var name: String

    package init(id: NodeID, name: String) { (self.id, self.name) = (id, name) }
}

extension InvalidMessage {
    /// Turns the error of a value's own check into the error of a message's check.
    package static func of(_ check: () throws(SkyError) -> Void) throws(InvalidMessage) {
        do {
            try check()
        } catch {
            throw InvalidMessage(error.message)
        }
    }
}
