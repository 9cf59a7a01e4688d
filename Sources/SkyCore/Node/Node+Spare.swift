import NIOConcurrencyHelpers
import Transport

/// Which coordinator takes new jobs while a node's own one waits for the nodes that keep its copies. These nodes may have taken the
/// old jobs over, so nothing may happen to them; that is no reason to refuse new ones.
actor SpareCoordinator {
    private let current = NIOLockedValueBox<CoordinatorID?>(nil)
    private var beginning: Task<CoordinatorID?, Never>?

    nonisolated var id: CoordinatorID? { current.withLockedValue { $0 } }

    nonisolated func isThis(_ coordinator: CoordinatorID) -> Bool { id == coordinator }

    /// The one that works, or a new one. Several that ask at the same time get the same one.
    ///
    /// - Parameters:
    ///   - works: whether a coordinator works here, and waits for no copies itself.
    ///   - begin: begins a new one; `nil` where it cannot be made.
    func open(
        works: @escaping @Sendable (CoordinatorID) async -> Bool,
        _ begin: @escaping @Sendable () async -> CoordinatorID?
    ) async -> CoordinatorID? {
        if let id, await works(id) { return id }
        if let beginning { return await beginning.value }
        let task = Task { await begin() }
        beginning = task
        let new = await task.value
        beginning = nil
        return new
    }

    nonisolated func set(_ coordinator: CoordinatorID) { current.withLockedValue { $0 = coordinator } }
}

extension Node {
    /// How long the node's own coordinator may fail to begin until the node takes jobs without it. Nodes that are started together
    /// find each other sooner.
    private static let sparePatience = Duration.seconds(3)

    /// The name of the actor that takes new jobs while the node's own coordinator waits for the nodes with its copies.
    func spareName() async -> String? {
        guard let keeper = copies?.keeper else { return nil }
        // It has copies of its own after a while, and may have to wait for them in its turn.
        let works = { @Sendable [opened] (id: CoordinatorID) async -> Bool in
            guard opened.withLockedValue({ $0[id] != nil }), let replica = await keeper.replica(of: id) else {
                return false
            }
            return keeper.waiting(of: replica) == nil
        }
        let id = await spare.open(works: works) {
            do {
                // Its events may be handled before this call returns.
                let replica = try await keeper.beginSpare { self.spare.set($0) }
                // It opens alone, in a moment.
                let end = ContinuousClock.now + .seconds(5)
                while self.opened.withLockedValue({ $0[replica.coordinator] == nil }) {
                    guard ContinuousClock.now < end else { return nil }
                    try await Task.sleep(for: .milliseconds(20))
                }
                return replica.coordinator
            } catch {
                self.report("no journal can be made for new jobs", error)
                return nil
            }
        }
        return id.flatMap { id in opened.withLockedValue { $0[id]?.coordinator.id.name } }
    }

    /// Whether a coordinator is the one that takes new jobs while the own one waits.
    func isNeeded(spare id: CoordinatorID) async -> Bool {
        guard spare.isThis(id), let keeper = copies?.keeper else { return false }
        guard let replica = await keeper.replica(of: own), replica.report?.isOpen == true else { return true }
        return keeper.waiting(of: replica) != nil
    }

    /// Lets the node take jobs when its own coordinator cannot begin, because too few of the nodes answer that keep its copies.
    func offerSpare() async {
        var waitsSince: ContinuousClock.Instant?
        while (try? await Task.sleep(for: .seconds(takesJobs ? 5 : 1))) != nil {
            guard !takesJobs else {
                // Its own coordinator, or one that stands in for it.
                waitsSince = nil
                continue
            }
            let since = waitsSince ?? .now
            waitsSince = since
            guard since.duration(to: .now) >= Node.sparePatience, await spareName() != nil, !takesJobs else { continue }
            standIn()
        }
    }
}
