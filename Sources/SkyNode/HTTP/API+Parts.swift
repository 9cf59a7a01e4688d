import SkyCore
import Transport

extension API {
    /// The parts of a node that requests ask. A question that many ask at the same time is asked once.
    struct Parts: Sendable {
        let system: ClusterSystem
        private let node: Node
        /// The node's own coordinator, which may be another one later.
        var coordinator: Coordinator { node.coordinator }
        /// Whether that coordinator works.
        var takesJobs: Bool { node.takesJobs }
        /// How the node is. Anybody may ask for `/healthz`, and that must not make the node do more than it does.
        var health: SharedAnswer<NodeHealth>
        /// The jobs as metrics count them, and what the journal holds; `nil` where the coordinator refuses.
        let jobs: SharedAnswer<[JobListing]?>
        /// The jobs that are at no node now.
        let waiting: SharedAnswer<[WaitingJobs]>
        var storage: SharedAnswer<JournalUsage?>

        /// How long a part that is well takes to answer at most. Prometheus waits for ten seconds.
        static let limit = Duration.seconds(5)
        /// How long a report of the node's health counts as the present: less than any probe's interval.
        private static let healthAge = Duration.milliseconds(200)
        /// All nodes are asked which jobs are at none, so that is not done for each request.
        private static let waitingAge = Duration.seconds(2)

        init(_ node: Node) {
            (system, self.node) = (node.system, node)
            health = SharedAnswer(maximumAge: Parts.healthAge, limit: Parts.limit) { await node.health() }
            jobs = SharedAnswer(maximumAge: .zero, limit: Parts.limit) { try? await node.coordinator.list() }
            waiting = SharedAnswer(maximumAge: Parts.waitingAge, limit: Parts.limit) {
                (try? await node.coordinator.waiting()) ?? []
            }
            storage = SharedAnswer(maximumAge: .zero, limit: Parts.limit) { try? await node.coordinator.storage() }
        }
    }
}
