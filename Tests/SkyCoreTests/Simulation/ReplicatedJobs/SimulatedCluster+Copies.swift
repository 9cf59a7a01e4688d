import Base
import Transport

@testable import SkyCore
@testable import SkyJobs

extension SimulatedCluster {
    /// A whole history of a cluster that keeps copies of one coordinator's journal.
    ///
    /// - Parameter flaw: a mistake that is made on purpose.
    static func historyWithCopies(_ seed: UInt64, flaw: ReplicatedFlaw? = nil) -> SimulatedCluster {
        var cluster = SimulatedCluster(seed: seed)
        cluster.copies.areKept = true
        cluster.copies.flaw = flaw
        // In some histories all candidates stand at the same time.
        if seed % 3 == 0 { cluster.copies.policy.stagger = .zero }
        cluster.populateWithCopies()
        cluster.run(until: .seconds(30))
        if cluster.violations.isEmpty { cluster.calmDown() }
        return cluster
    }

    /// Machines, of which the first has the journal, clients, and misfortunes to come; after half a minute there are no more.
    private mutating func populateWithCopies() {
        // Shorter times than those of the program, so that more happens.
        copies.policy.adoptAfter = .seconds(3)
        copies.policy.contactTime = .milliseconds(1800)
        copies.policy.heartbeat = .milliseconds(600)
        copies.policy.replaceAfter = chance(50) ? .seconds(8) : .seconds(60)
        let count = Int.random(in: 3...5, using: &random)
        if count == 5, chance(50) { copies.policy.copies = 4 }
        for number in 0..<count {
            // One may have none, and keep copies only.
            let slots = Int.random(in: number == 1 ? 0...4 : 1...4, using: &random)
            let host = SimulatedHost(
                name: "host\(number)", slots: slots,
                slowness: chance(10) ? 10 : 1, journal: SimulatedJournal(CoordinatorID(rawValue: random.next())))
            host.disk = ReplicatedDisk(id: ReplicaID(rawValue: random.next()))
            host.disk.isOwn = number == 0
            host.knowsCopies = number == 0 || !chance(12)
            host.clockError = .seconds(7200) + delay(0...7_200_000)
            host.killsNodes = number > 0 || chance(50)
            hosts.append(host)
            schedule(.started(host: number), after: delay(0...200))
        }
        for number in 0..<Int.random(in: 1...5, using: &random) { addClient(number) }
        schedule(.replicated(.backedUp), after: delay(100...9000))
        for _ in 0..<Int.random(in: 1...9, using: &random) {
            let fault = randomFault()
            schedule(.replicated(.fault(fault)), after: delay(500...28_000))
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let left = Int.random(in: 0..<(count - 1), using: &random)
            let right = Int.random(in: (left + 1)..<count, using: &random)
            schedule(.linkBroken(left, right), after: delay(10...28_000))
        }
    }

    private mutating func addClient(_ number: Int) {
        var request = JobRequest(
            .simulate(SimulateRequest(tasks: Int.random(in: 1...40, using: &random), duration: .milliseconds(1))))
        request.options.priority = Int.random(in: -1...1, using: &random)
        if chance(10) { request.allowedFailures = Int.random(in: 0...2, using: &random) }
        if chance(10) { request.deadline = delay(2000...20_000) }
        copies.clients.append(SimulatedClient(token: "token \(number)", job: request))
        let start = delay(0...20_000)
        schedule(.replicated(.asked(number, .submit)), after: start)
        if chance(15) { schedule(.replicated(.asked(number, .cancel)), after: start + delay(100...6000)) }
        if chance(15) { schedule(.replicated(.asked(number, .delete)), after: start + delay(100...9000)) }
    }
}
