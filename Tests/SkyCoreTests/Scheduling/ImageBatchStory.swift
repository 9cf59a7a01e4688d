import SkyCore
import Transport

/// Images that one of the nodes has, scanned by all, on a simulated clock: backgrounds, then sectors, and pixels that cross a
/// wire to whoever has not had them.
struct ImageBatchStory {
    struct Machine {
        var node: NodeID
        var slots: Int
        var hasFiles = false
        /// How many times as long everything takes.
        var slowness = 1.0
    }

    /// Times in seconds.
    var machines: [Machine]
    var images = 1
    /// Images under way at once.
    var width = 4
    var sectors = 16
    var background = 0.03
    var sector = 0.09
    /// Of a sector's pixels, over a wire of each machine's own.
    var transfer = 0.0
    var options: JobOptions = {
        var options = JobOptions()
        options.sharesInput = true
        return options
    }()

    struct Outcome {
        var seconds = 0.0
        /// Sectors whose pixels crossed a wire.
        var transfers = 0
        var sectorsByNode: [NodeID: Int] = [:]
        var nodesOfImage: [JobID: Set<NodeID>] = [:]
        /// Images that one machine scanned alone.
        var wholeImages: Int { nodesOfImage.values.count { $0.count == 1 } }
    }

    private struct Pixels: Hashable {
        var job: JobID
        var sector: Int
    }

    private struct Host {
        var machine: Machine
        var waiting: [AttemptID] = []
        var running = 0
        /// When pixels are there that are here or on their way.
        var arrivals: [Pixels: Double] = [:]
        var wireFree = 0.0
    }

    /// Ends of attempts to come.
    private struct End {
        var at: Double
        var attempt: AttemptID
        var node: NodeID
        var took: Double
    }

    func run() -> Outcome {
        var story = SchedulerStory()
        var hosts = Dictionary(uniqueKeysWithValues: machines.map { ($0.node, Host(machine: $0)) })
        var ends: [End] = []
        var outcome = Outcome()
        var now = 0.0
        var done: [JobID: Int] = [:]
        var stopped: Set<AttemptID> = []
        var submitted = 0
        let holder = machines.first { $0.hasFiles }?.node

        func pixels(_ attempt: AttemptID) -> Pixels? {
            attempt.task.index == 0 ? nil : Pixels(job: attempt.job, sector: (attempt.task.index - 1) % sectors)
        }
        func begin(_ node: NodeID) {
            guard var host = hosts[node] else { return }
            while host.running < host.machine.slots, !host.waiting.isEmpty {
                let attempt = host.waiting.removeFirst()
                let work = attempt.task.index == 0 ? 0.005 : attempt.task.index <= sectors ? background : sector
                let arrival = pixels(attempt).flatMap { host.arrivals[$0] } ?? now
                let took = max(0, arrival - now) + work * host.machine.slowness
                host.running += 1
                ends.append(End(at: now + took, attempt: attempt, node: node, took: took))
            }
            hosts[node] = host
        }
        func follow(_ actions: [JobScheduler.Action]) {
            for action in actions {
                switch action {
                case .run(let attempt, let node):
                    if let pixels = pixels(attempt), hosts[node]?.machine.hasFiles == false,
                        hosts[node]?.arrivals[pixels] == nil
                    {
                        let arrival = max(now, hosts[node]?.wireFree ?? now) + transfer
                        hosts[node]?.arrivals[pixels] = arrival
                        hosts[node]?.wireFree = arrival
                        outcome.transfers += 1
                    }
                    hosts[node]?.waiting.append(attempt)
                    begin(node)
                case .stop(let attempt, let node):
                    stopped.insert(attempt)
                    if let place = hosts[node]?.waiting.firstIndex(of: attempt) {
                        hosts[node]?.waiting.remove(at: place)
                        follow(story.handle(.failed(attempt, on: node, .refused("stopped"))))
                    }
                case .completed(let attempt, let node):
                    let job = attempt.job
                    done[job, default: 0] += 1
                    if attempt.task.index > 0 { outcome.nodesOfImage[job, default: []].insert(node) }
                    if attempt.task.index > sectors { outcome.sectorsByNode[node, default: 0] += 1 }
                    if done[job] == 1 {
                        if let holder { follow(story.handle(.inputFound(job, on: holder))) }
                        follow(story.handle(.tasksAdded(job, count: sectors)))
                    } else if done[job] == 1 + sectors {
                        let affinity = Dictionary(
                            uniqueKeysWithValues: (1...sectors).map { (TaskID($0 + sectors), TaskID($0)) })
                        follow(story.handle(.tasksAdded(job, count: sectors, affinity: affinity)))
                        follow(story.handle(.noMoreTasks(job)))
                    }
                case .jobFinished: submit()
                case .reserve(let node, let wanted):
                    follow(story.lease(node, min(wanted, hosts[node]?.machine.slots ?? 0)))
                default: break
                }
            }
        }
        func submit() {
            guard submitted < images else { return }
            submitted += 1
            follow(story.handle(.submitted(JobID(rawValue: UInt64(submitted)), tasks: 1, options)))
        }

        for machine in machines {
            follow(story.handle(.nodeJoined(machine.node)))
        }
        for _ in 0..<min(width, images) { submit() }
        while let next = ends.indices.min(by: { ends[$0].at < ends[$1].at }) {
            if let due = story.scheduler.nextWake, due / .seconds(1) < ends[next].at {
                story.now = max(story.now, due)
                now = max(now, story.now / .seconds(1))
                follow(story.handle(.tick))
                continue
            }
            let end = ends.remove(at: next)
            now = end.at
            story.now = max(story.now, .seconds(now))
            hosts[end.node]?.running -= 1
            begin(end.node)
            let isStopped = stopped.contains(end.attempt)
            follow(
                story.handle(
                    isStopped
                        ? .failed(end.attempt, on: end.node, .refused("stopped"))
                        : .succeeded(end.attempt, on: end.node, took: .seconds(end.took))))
            if done.values.reduce(0, +) == images * (1 + 2 * sectors), outcome.seconds == 0 { outcome.seconds = now }
        }
        return outcome
    }
}
