extension JobScheduler {
    /// The scheduler's numbers, each with its reason.
    package struct Policy: Hashable, Sendable {
        /// Retries after a task's own faults: four tries in all. Flaky causes (memory, a disk) seldom survive three other
        /// nodes; a broken task should be reported while somebody is still looking.
        package var maximumFaults = 3
        /// After running on this many nodes that died, a task is tried where nothing else runs: then those that only stood
        /// beside it are not blamed. Three, because when a rack or a switch fails, innocent tasks see losses in a row.
        package var suspicionAfter = 3
        /// After so many more nodes that died of it when it was alone, the task is taken to be what kills them.
        package var maximumLossesAlone = 2
        /// Losses in all, whatever the nodes: a link that breaks under the same task again and again must not go on for ever.
        package var maximumLosses = 50
        /// Refusals are nobody's fault and normally end within one; a hundred means that something is broken, and a job
        /// must end rather than circle for ever.
        package var maximumRefusals = 100
        /// First delay after a fault: long enough for a passing cause to pass, short beside any real task.
        package var backoffBase: Duration = .milliseconds(100)
        /// Largest delay: with three retries it is reached only by larger budgets, and a person is waiting.
        package var backoffLimit: Duration = .seconds(5)
        /// Delays vary by this fraction up and down, so that tasks that failed together do not return together.
        package var backoffJitter = 0.2
        /// How long a task and a node wait after a refusal, unless the node's new lease arrives earlier, as it should.
        package var refusalDelay: Duration = .milliseconds(100)
        /// How long a node is left alone after the connection to it failed under an attempt. Membership follows within that
        /// time if the node is gone; without the rest, a task with nowhere else to go would spend its whole budget at once.
        package var lossDelay: Duration = .seconds(1)
        /// How long a retry waits for a node of its choice before it takes any: a preference must not become a deadlock.
        package var relaxAfter: Duration = .seconds(2)
        /// Most slots demanded of one node; more than any machine has, and small enough to add up safely.
        package var wantedLimit = 4096
        /// How long idle slots are kept. Jobs in phases and streams of small jobs would otherwise give slots back and fetch
        /// them again, on every node, for each task; another coordinator hardly notices the wait.
        package var releaseDelay: Duration = .milliseconds(50)
        /// Kinds of retry examined for one free slot. Kinds differ in the nodes to avoid; there are rarely more than a few,
        /// and this bounds the time of an event if there ever are.
        package var searchLimit = 64
        /// An attempt that takes this many times the mean of its job is tried on an idle slot too, once nothing else waits: the
        /// last few tasks must not wait for a slow or frozen node.
        package var speculationFactor = 2.0
        /// No speculative attempt before this time: what is over soon is not worth one.
        package var speculationDelay: Duration = .milliseconds(100)
        /// No speculative attempt before this time where none of a job's tasks has ended, so that nobody knows what they take: a node that takes
        /// all of them and never says anything must not hold the job for ever. Longer than what most tasks take.
        package var firstSpeculationDelay: Duration = .seconds(60)
        /// How often to look for attempts that take long.
        package var speculationInterval: Duration = .milliseconds(50)
        /// When a node's measured slowness counts only half. A node once slow gets probed again within a few of these.
        package var slownessHalfLife: Duration = .seconds(30)

        package init() {}
    }
}
