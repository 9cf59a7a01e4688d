import Transport

/// All jobs of one coordinator, and the rotation in which they get slots.
struct ScheduledJobs {
    /// The tasks of all jobs: those that could run now, and all that will run.
    private(set) var tasks = ScheduledPeople.Tasks()
    /// The tasks of the jobs that get no slot, whatever slots are free: those that are withheld, and those that no live node may take.
    private var uncounted = ScheduledPeople.Tasks()
    private(set) var people = ScheduledPeople()
    private(set) var selections = NodeSelections()

    /// The records are in an array, so that a record is read where it is. A dictionary would hand out a copy, reference
    /// counts included.
    private var records: [JobRecord] = []
    private var position: [JobID: Int] = [:]
    /// How often a job went to the end of its rotation.
    private var turns: UInt64 = 0
    private let generation: UInt64

    init(generation: UInt64) {
        self.generation = generation
    }

    var ids: [JobID] { position.keys.sorted() }

    /// Tasks that could run now on a free slot.
    var ready: Int { tasks.ready - uncounted.ready - people.blocked.ready }

    /// Tasks that wait for slots of nodes, now or after a pause.
    var waiting: Int { tasks.waiting - uncounted.waiting - people.blocked.waiting }

    subscript(job: JobID) -> JobRecord? { position[job].map { records[$0] } }

    func isDone(_ job: JobID) -> Bool { position[job].map { records[$0].isDone } ?? false }

    /// The record of a task under way.
    func task(_ task: Int, of job: JobID) -> TaskRecord? { position[job].flatMap { records[$0][task] } }

    /// Whether a task is neither done nor unknown.
    func isOpen(_ task: Int, of job: JobID) -> Bool { position[job].map { records[$0].isOpen(task) } ?? false }

    func expectedTime(of job: JobID) -> Int { position[job].map { records[$0].expectedTime } ?? NodeRecord.unknownTime }

    /// Jobs that have running tasks and no waiting ones.
    var tails: [JobRecord] { records.filter { $0.waiting == 0 && $0.running > 0 } }

    /// Whether any job has an input that nodes without it have to fetch.
    var hasHolders: Bool { records.contains { $0.locality.holder != nil } }

    /// Inserts a new job. Returns `false` if it is here already.
    mutating func insert(_ job: JobID, _ options: JobOptions, by submitter: JobSubmitter, roster: Roster) -> Bool {
        guard position[job] == nil else { return false }
        position[job] = records.count
        let person = people.add(submitter)
        records.append(
            JobRecord(
                id: job, options: options, selection: selections.insert(job, options, roster: roster), person: person,
                slotLimit: submitter.slots, generation: generation))
        return true
    }

    mutating func remove(_ job: JobID) -> JobRecord? {
        guard let index = position[job] else { return nil }
        let record = records[index]
        endRotation(index)
        count(index, .init() - record.tasks)
        people.remove(limit: record.slotLimit, of: record.person)
        selections.remove(job, from: record.selection)
        tasks = tasks - record.tasks
        position[job] = nil
        let last = records.removeLast()
        if index < records.count {
            records[index] = last
            position[last.id] = index
        }
        return record
    }

    // MARK: - Nodes

    /// A node has joined. Jobs that had to wait for it take part from now on.
    mutating func nodeJoined(_ node: NodeRecord) {
        let selecting = selections.selecting(node)
        recount(jobs(in: selecting.filter { !selections.isPlaced($0) })) { jobs in
            jobs.people.nodeJoined(node.id, in: selecting)
            jobs.selections.nodeJoined(node.id, in: selecting)
        }
    }

    /// A node is gone. Jobs that no other node may take wait until one joins.
    mutating func nodeLost(_ node: NodeID) {
        recount(jobs(in: selections.selectingOnly(node))) { jobs in
            jobs.people.nodeLost(node)
            jobs.selections.nodeLost(node)
        }
    }

    /// How many tasks wait for slots of a node that may take them, rounded up. `ScheduledPeople.version` says when that has changed.
    func waiting(for node: NodeID) -> Int { people.waiting(for: node) }

    /// Whether something of a job runs, or a node may take its tasks that has slots and is not draining, and may reach their input.
    func hasNode(for job: JobID, in roster: Roster) -> Bool {
        guard let record = position[job].map({ records[$0] }), record.running == 0 else { return true }
        let outOfReach = record.outOfReach
        if record.selection == NodeSelections.everyNode, outOfReach.isEmpty { return roster.usableCount > 0 }
        let nodes =
            record.selection == NodeSelections.everyNode ? roster.order : Array(selections.nodes(record.selection))
        return nodes.contains { roster.isUsable($0) && !outOfReach.contains($0) }
    }

    /// Whether a usable node may take none of the tasks that could run now.
    func leavesNodeIdle(in roster: Roster) -> Bool {
        ready == 0
            || !selections.isReadyEverywhere(roster.order.count)
                && roster.order.contains { roster.isUsable($0) && selections.ready(on: $0) == 0 }
    }

    private func jobs(in selections: [Int]) -> [Int] {
        selections.flatMap { self.selections.jobs($0) }.sorted().compactMap { position[$0] }
    }

    // MARK: - What people hold

    /// Lets a job get no slot (`true`), or lets it get slots again.
    mutating func withhold(_ job: JobID, _ isWithheld: Bool) {
        guard let index = position[job], records[index].isWithheld != isWithheld else { return }
        recount([index]) { $0.records[index].isWithheld = isWithheld }
    }

    /// Whether a job may get another slot.
    func mayHold(_ job: JobID) -> Bool { position[job].map(mayHold) ?? false }

    private func mayHold(_ index: Int) -> Bool {
        !records[index].isWithheld && people.mayHold(records[index].person, limit: records[index].slotLimit)
    }

    /// An attempt of a job is about to occupy a slot.
    ///
    /// - Returns: the person for whom it does; `nil` where the job is not known.
    mutating func hold(for job: JobID) -> Int? {
        guard let person = position[job].map({ records[$0].person }) else { return nil }
        people.hold(person)
        return person
    }

    /// An attempt occupies its slot no more.
    mutating func release(_ person: Int?) {
        if let person { people.release(person) }
    }

    // MARK: - Changes

    /// Changes a job, and keeps the totals and the rotation correct. Returns nil also when there is no such job.
    @discardableResult
    mutating func update<Result>(_ job: JobID, _ change: (inout JobRecord) -> Result?) -> Result? {
        guard let index = position[job] else { return nil }
        let before = records[index].tasks
        let result = change(&records[index])
        recount(index, before)
        rotate(index)
        return result
    }

    /// Takes a task for `node` from the job whose turn it is.
    ///
    /// - Parameter spareTime: if the task will have to wait there, how long it may take, in nanoseconds.
    /// - Returns: the attempt; whether a search ended at its limit; and until when the node leaves the last tasks to faster
    ///   nodes.
    mutating func claim(
        for node: NodeID, roster: Roster, spareTime: Int?, now: Duration, policy: SchedulerPolicy
    ) -> (attempt: AttemptID?, isCutShort: Bool, leavesUntil: Duration?) {
        var isCutShort = false
        var leavesUntil: Duration?
        guard let first = nextTurn(on: node, roster: roster, spareTime: spareTime) else { return (nil, false, nil) }
        // The others are put into order only where the first has nothing for this node.
        var others: [Int]?
        var turn = Optional(first)
        while let index = turn {
            // If there is other work, the node does not have to wait for the end of this job.
            if records[index].options.sharesInput == true, records[index].ready == selections.ready(on: node),
                let until = SlowNode.leaves(&records[index], node, roster: roster, now: now, policy: policy)
            {
                leavesUntil = until
            } else {
                let before = records[index].tasks
                let found = records[index].claim(for: node, roster: roster, limit: max(1, policy.searchLimit))
                recount(index, before)
                if records[index].ready == 0 || selections.rotating > 1 { endRotation(index) }
                rotate(index)
                if let claimed = found.claimed {
                    people.serve(records[index].person)
                    let attempt = AttemptID(
                        job: records[index].id, task: TaskID(claimed.task), number: claimed.number,
                        generation: generation)
                    return (attempt, false, leavesUntil)
                }
                if found.isCutShort { isCutShort = true }
            }
            if others == nil {
                others = turns(on: node, roster: roster, spareTime: spareTime, except: first)
            }
            turn = others?.popLast()
        }
        return (nil, isCutShort, leavesUntil)
    }

    /// What decides whose turn it is; the lowest comes first.
    private typealias Rank = (Int, Int, UInt64, Int, UInt64)

    /// Chooses the job of the highest priority; among equals, one of the person who holds the fewest slots, or was served longest
    /// ago; of that person's jobs the one with the fewest running tasks; among equals again, the one that was served longest ago.
    /// Therefore people have equal numbers of slots for jobs of equal priority, and so have the jobs of one person, however long
    /// their tasks take. `JobLocality` lowers the number of running tasks for jobs that the node itself began, and raises it for
    /// jobs that other nodes began.
    ///
    /// Only jobs that the node may take are looked at, so that jobs that wait for other nodes cost nothing.
    private func nextTurn(on node: NodeID, roster: Roster, spareTime: Int?) -> Int? {
        var best: (index: Int, rank: Rank)?
        for selection in selections.active where selections.selects(selection, node) {
            for job in selections.rotation(selection) {
                guard let index = position[job] else { continue }
                let rank = rank(index, on: node, roster: roster)
                if let best, rank >= best.rank { continue }
                if !mayGo(index, to: node, roster: roster, spareTime: spareTime) { continue }
                best = (index, rank)
            }
        }
        return best?.index
    }

    /// The jobs that may go to a node, apart from one. The one whose turn it is comes last.
    private func turns(on node: NodeID, roster: Roster, spareTime: Int?, except first: Int) -> [Int] {
        var turns: [(index: Int, rank: Rank)] = []
        for selection in selections.active where selections.selects(selection, node) {
            for job in selections.rotation(selection) {
                guard let index = position[job], index != first,
                    mayGo(index, to: node, roster: roster, spareTime: spareTime)
                else { continue }
                turns.append((index, rank(index, on: node, roster: roster)))
            }
        }
        return turns.sorted { $0.rank > $1.rank }.map(\.index)
    }

    private func rank(_ index: Int, on node: NodeID, roster: Roster) -> Rank {
        let person = records[index].person
        let isShared = people.count > 1
        let (held, served) = isShared ? (people.held(by: person), people.turn(of: person)) : (0, 0)
        var running = records[index].running
        if records[index].options.sharesInput == true, selections.rotating > 1, let record = roster[node] {
            running += records[index].locality.bias(for: record, roster: roster)
        }
        return (-records[index].options.priority, held, served, running, records[index].turn)
    }

    private func mayGo(_ index: Int, to node: NodeID, roster: Roster, spareTime: Int?) -> Bool {
        guard mayHold(index) else { return false }
        guard let spareTime, records[index].expectedTime > spareTime else { return true }
        return looksAhead(index, on: node, roster: roster)
    }

    /// Whether a task of a job may wait on a node while its input is fetched. It may if there are enough tasks for all other slots of
    /// the nodes that may take them.
    private func looksAhead(_ index: Int, on node: NodeID, roster: Roster) -> Bool {
        guard let holder = records[index].locality.holder, holder != node, roster[node]?.canLookAhead == true else {
            return false
        }
        let selection = records[index].selection
        let slots =
            selection == NodeSelections.everyNode
            ? roster.slots : selections.nodes(selection).reduce(0) { $0 + (roster[$1]?.slots ?? 0) }
        return min(ready, selections.ready(selection)) > slots
    }

    // MARK: - Counting

    private mutating func rotate(_ index: Int) {
        guard records[index].ready > 0, !records[index].isInRotation, selections.isPlaced(records[index].selection)
        else { return }
        records[index].isInRotation = true
        turns += 1
        records[index].turn = turns
        selections.rotate(records[index].id, in: records[index].selection)
    }

    private mutating func endRotation(_ index: Int) {
        guard records[index].isInRotation else { return }
        records[index].isInRotation = false
        selections.endRotation(of: records[index].id, in: records[index].selection)
    }

    /// Makes a change that decides which of some jobs are counted.
    private mutating func recount(_ indices: [Int], _ change: (inout ScheduledJobs) -> Void) {
        for index in indices {
            count(index, .init() - records[index].tasks)
            endRotation(index)
        }
        change(&self)
        for index in indices {
            count(index, records[index].tasks)
            rotate(index)
        }
    }

    private mutating func recount(_ index: Int, _ before: ScheduledPeople.Tasks) {
        let change = records[index].tasks - before
        guard change.ready != 0 || change.waiting != 0 else { return }
        tasks += change
        count(index, change)
    }

    /// Counts so many more tasks of a job, for its person and its nodes or among those that get no slot.
    private mutating func count(_ index: Int, _ tasks: ScheduledPeople.Tasks) {
        let selection = records[index].selection
        guard !records[index].isWithheld, selections.isPlaced(selection) else { return uncounted += tasks }
        people.add(tasks, for: selection, of: selections, to: records[index].person)
        selections.add(ready: tasks.ready, to: selection)
    }
}
