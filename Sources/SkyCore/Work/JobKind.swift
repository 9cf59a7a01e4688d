package import Base
package import NIOCore
package import Transport

/// A kind of job: all that the cluster has to know of it. `docs/EXTENDING.md` shows how one is made.
///
/// The coordinator, the journal, the scheduler, the workers and the HTTP interface know jobs and tasks, and not what these are about:
/// what they need to know stands here. `JobKinds.builtIn` lists the kinds that there are.
package protocol JobKind: Sendable {
    /// What a job of this kind is asked for.
    static var request: any KindRequest.Type { get }
    /// What its tasks do.
    static var work: [any KindWork.Type] { get }
    /// What they come to.
    static var results: [any KindResult.Type] { get }
    /// What those who watch a job hear beside what they hear of every job.
    static var events: [any KindEvent.Type] { get }
    /// What a client may fetch of a job that has ended: methods of the `Coordinator`.
    static var methods: [Method] { get }
}

extension JobKind {
    package static var events: [any KindEvent.Type] { [] }
    package static var methods: [Method] { [] }
}

/// What a job is asked for. Journals keep it, and later versions read it: what is added is optional.
package protocol KindRequest: Codable, Sendable {
    /// The word for the kind in journals and on the wire. It never changes.
    static var name: String { get }
    /// What people call such a job: "/data/m13.fits".
    var title: String { get }
    /// - Throws: `SkyError` of kind `badInput`, in words for whoever submitted it.
    func validate() throws(SkyError)
    /// What the kind makes of the options that were asked for.
    func scheduling(_ options: JobOptions) -> JobOptions
    /// Which tasks the job has, in which phases.
    func plan() -> any JobPlan
    /// No results of earlier jobs are kept here: those of this one need no key.
    mutating func goWithoutCache()
}

extension KindRequest {
    package func scheduling(_ options: JobOptions) -> JobOptions { options }

    package mutating func goWithoutCache() {}
}

/// What a task does. Idempotent, so that it may be tried again anywhere.
///
/// An enum, which is coded under the names of its cases.
package protocol KindWork: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same.
    static var cases: [String] { get }
    /// - Throws: `InvalidMessage` for what no coordinator of good faith sends.
    func validate() throws(InvalidMessage)
    /// About the bytes that it takes in memory.
    var byteCount: Int { get }
    /// Whether many of them may go to a node in one message.
    var isSmall: Bool { get }
    /// In which process it is done.
    var place: WorkPlace { get }
    /// Gets what it will need while it waits for a slot.
    func lookAhead(_ pixels: PixelStore) async
}

extension KindWork {
    package var byteCount: Int { 1024 }

    package var isSmall: Bool { false }

    package func lookAhead(_ pixels: PixelStore) async {}
}

/// In which process work is done.
package enum WorkPlace {
    /// In the node's daemon: harmless, and without blocking a thread.
    case daemon(any DaemonWork)
    /// In a worker process, which may block, and die of what it is given.
    case worker(any WorkerWork)
}

/// Work that a daemon does itself.
package protocol DaemonWork: Sendable {
    /// What comes of it, encoded, where that takes no time; `nil` where it does.
    var resultAtOnce: ByteBuffer? { get }
    /// - Parameters:
    ///   - timeLimit: For the attempt.
    ///   - slowness: How many times as long this node is to take, as a rehearsal; 0 where it is to take no time.
    /// - Throws: `SkyError`, whose kind says whether another try may help.
    func perform(timeLimit: Duration, slowness: Int) async throws -> TaskResult
}

extension DaemonWork {
    package var resultAtOnce: ByteBuffer? { nil }
}

/// Work that a worker process does.
package protocol WorkerWork: Sendable {
    /// Does it, on the worker's one thread.
    ///
    /// - Throws: `SkyError`, whose kind says whether another try may help.
    func perform(with tools: WorkerTools) throws -> TaskResult
}

/// What a task came to.
///
/// An enum, which is coded under the names of its cases.
package protocol KindResult: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same.
    static var cases: [String] { get }
    /// Called on the node that did the work.
    ///
    /// - Parameter node: That node, where it reads files for others; `nil` where it does not.
    mutating func sign(by node: NodeLabel?)
}

extension KindResult {
    package mutating func sign(by node: NodeLabel?) {}
}

/// Something that happened to a job of one kind.
///
/// An enum, which is coded under the names of its cases.
package protocol KindEvent: Codable, Sendable {
    /// The names of its cases on the wire. No other kind has the same.
    static var cases: [String] { get }
}

/// What a job came to, for those who fetch it.
package protocol JobResults: Sendable {
    /// About the bytes that it takes in memory.
    var byteCount: Int { get }
}

/// A node, by its run and its name.
package struct NodeLabel: Hashable, Sendable {
    package var id: NodeID
    package var name: String

    package init(id: NodeID, name: String) { (self.id, self.name) = (id, name) }
}
