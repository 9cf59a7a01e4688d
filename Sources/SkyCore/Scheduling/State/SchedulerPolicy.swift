/// The scheduler's numbers, each with its reason.
package struct SchedulerPolicy: Hashable, Sendable {
    /// How many retries a task has after its own faults. With three there are four attempts in all. Flaky causes
    /// (memory, a disk) seldom survive three other nodes, and a broken task should be reported while somebody is still
    /// watching.
    package var maximumFaults = 3
    /// After running on this many nodes that died, a task is tried where nothing else runs, so that tasks that only ran
    /// beside it are not blamed. The number is three because innocent tasks see losses in a row when a rack or a switch
    /// fails.
    package var suspicionAfter = 3
    /// After this many more nodes that died while they ran the task alone, the scheduler takes the task to be what
    /// kills them.
    package var maximumLossesAlone = 2
    /// How many losses a task may have in all, on whatever nodes. A link that breaks under the same task again and
    /// again must not go on for ever.
    package var maximumLosses = 50
    /// How many refusals a task may have. Refusals are nobody's fault and normally end after one. A hundred mean that
    /// something is broken, and a job must end rather than circle for ever.
    package var maximumRefusals = 100
    /// First delay after a fault. It is long enough for a passing cause to pass, and short beside any real task.
    package var backOffBase: Duration = .milliseconds(100)
    /// Largest delay. Three retries do not reach it, only larger budgets do, and then a person is waiting.
    package var backOffLimit: Duration = .seconds(5)
    /// Delays vary by this fraction up and down, so that tasks that failed together do not return together.
    package var backOffJitter = 0.2
    /// How long a task and a node wait after a refusal, unless the node's new lease arrives earlier, as it should.
    package var refusalDelay: Duration = .milliseconds(100)
    /// How long a node is left alone after the connection to it failed during an attempt. If the node is gone,
    /// membership reports that within this time. Without the pause, a task with no other node to go to would spend its
    /// whole budget at once.
    package var lossDelay: Duration = .seconds(1)
    /// How long a retry waits for a node of its choice before it takes any node, because a preference must not become a
    /// deadlock.
    package var relaxAfter: Duration = .seconds(2)
    /// How long a task whose submitter can send its input waits for a node with a free slot that may have it. An idle node lends a
    /// slot within this time, and a person hardly notices the wait.
    package var sendAfter: Duration = .seconds(2)
    /// Most slots demanded of one node. It is more than any machine has, and small enough to add up safely.
    package var demandLimit = 4096
    /// How long idle slots are kept. Jobs in phases and streams of small jobs would otherwise give slots back and fetch
    /// them again, on every node, for each task; another coordinator hardly notices the wait.
    package var releaseDelay: Duration = .milliseconds(50)
    /// How many kinds of retry are examined for one free slot. Kinds differ in the nodes to avoid. There are rarely
    /// more than a few; if there are many, this limit bounds the time of an event.
    package var searchLimit = 64
    /// An attempt that takes this many times the mean of its job gets a speculative attempt on an idle slot, once
    /// nothing else waits: the last few tasks must not wait for a slow or frozen node.
    package var speculationFactor = 2.0
    /// A task gets no speculative attempt before this time, because it is not worth one if it ends soon.
    package var speculationDelay: Duration = .milliseconds(100)
    /// A task gets no speculative attempt before this time if none of its job's tasks has ended, because the time that
    /// they take is not known then. A node that takes all of them and never reports must not hold the job for ever. The
    /// time is longer than most tasks take.
    package var firstSpeculationDelay: Duration = .seconds(60)
    /// How often to look for attempts that take long.
    package var speculationInterval: Duration = .milliseconds(50)
    /// After how long a node's measured slowness counts only half. A node that was slow once is tried again within a
    /// few of these times.
    package var slownessHalfLife: Duration = .seconds(30)

    package init() {}
}
