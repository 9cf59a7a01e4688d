import Transport

/// The people whose jobs a scheduler has. It knows how many slots the jobs of each hold, so that people of equal need have equal
/// numbers of slots, whatever the number of their jobs, and nobody has more than their limit.
///
/// A person is known by a place, which is theirs as long as they have a job or hold a slot. Every change takes the same time, however
/// many people there are.
struct ScheduledPeople {
    /// Tasks of one or more jobs: those that could run now, and all that will run.
    struct Tasks {
        var ready = 0
        var waiting = 0

        static func += (left: inout Tasks, right: Tasks) {
            left.ready += right.ready
            left.waiting += right.waiting
        }

        static func - (left: Tasks, right: Tasks) -> Tasks {
            Tasks(ready: left.ready - right.ready, waiting: left.waiting - right.waiting)
        }
    }

    private struct Record {
        var name: String?
        var jobs = 0
        /// Attempts of their jobs that occupy a slot. Attempts that were told to stop are included until they are reported.
        var held = 0
        /// The tasks of their jobs.
        var tasks = Tasks()
        /// Those that wait, by the nodes that may take them.
        var waiting = WaitingTasks()
        /// How many of those that any node may take are counted in `anywhere`.
        var counted = 0
        /// When they were served last, as a number that increases.
        var turn: UInt64 = 0
        /// How many of their jobs have which limit. Different credentials of one person may have different limits.
        var limits: [Int?: Int] = [:]
        /// The largest of the limits; `nil` where a job has none.
        var limit: Int?

        /// The tasks that wait for the person's own slots, whatever slots there are.
        var blocked: Tasks {
            guard let limit else { return Tasks() }
            let room = max(0, limit - held)
            return Tasks(ready: max(0, tasks.ready - room), waiting: max(0, tasks.waiting - room))
        }

        /// How many more slots the person's jobs may hold, rounded up; `nil` for no limit.
        var room: Int? { limit.map { WaitingTasks.roundedUp(max(0, $0 - held)) } }

        /// How many of the person's tasks wait for slots of a node, rounded up.
        func demand(on node: NodeID) -> Int { min(waiting.count(for: node), room ?? .max) }
    }

    private var records: [Record] = []
    private var position: [String?: Int] = [:]
    /// Places that nobody has.
    private var vacant: [Int] = []
    private var turns: UInt64 = 0
    /// The tasks of all people that wait for the slots of their own person.
    private(set) var blocked = Tasks()
    /// The tasks that wait and that any node may take, of all people with no other tasks, rounded up for each person.
    private var anywhere = 0
    /// The people with tasks that some nodes may not take.
    private var selective: Set<Int> = []
    /// Increases whenever `waiting(for:)` may have changed.
    private(set) var version = 0

    /// How many people have jobs here, or hold slots.
    var count: Int { position.count }

    /// How many slots a person's jobs hold.
    func held(by place: Int) -> Int { records[place].held }

    /// When a person was served last, as a number that increases.
    func turn(of place: Int) -> UInt64 { records[place].turn }

    /// How many tasks wait for slots of a node that may take them. The number is rounded up, for each person and each selection of nodes,
    /// so that it does not change with every task; it is less than twice what waits.
    func waiting(for node: NodeID) -> Int { selective.reduce(anywhere) { $0 + records[$1].demand(on: node) } }

    /// Whether a person's jobs hold fewer slots than a job's limit.
    func mayHold(_ place: Int, limit: Int?) -> Bool { limit.map { records[place].held < $0 } ?? true }

    // MARK: - Jobs

    /// Takes in one more job of a person.
    ///
    /// - Returns: the person's place.
    mutating func add(_ submitter: JobSubmitter) -> Int {
        let place = position[submitter.name] ?? settle(submitter.name)
        change(place) { record in
            record.jobs += 1
            record.limits[submitter.slots, default: 0] += 1
            record.limit = Self.largest(record.limits)
        }
        return place
    }

    /// A job is gone. Its tasks must have been taken away.
    mutating func remove(limit: Int?, of place: Int) {
        change(place) { record in
            record.jobs -= 1
            let left = (record.limits[limit] ?? 1) - 1
            record.limits[limit] = left > 0 ? left : nil
            record.limit = Self.largest(record.limits)
        }
        leaveIfIdle(place)
    }

    /// A person's jobs have so many more tasks for the nodes of a selection.
    mutating func add(_ tasks: Tasks, for selection: Int, of selections: NodeSelections, to place: Int) {
        // Most people have no limit, and this is called for each task.
        if records[place].limit == nil { records[place].tasks += tasks } else { change(place) { $0.tasks += tasks } }
        if records[place].waiting.add(tasks.waiting, for: selection, of: selections) { recount(place) }
    }

    // MARK: - Nodes

    /// A node has joined that these selections select.
    mutating func nodeJoined(_ node: NodeID, in selections: [Int]) {
        for place in selective { records[place].waiting.nodeJoined(node, in: selections) }
        version += 1
    }

    mutating func nodeLost(_ node: NodeID) {
        for place in selective { records[place].waiting.nodeLost(node) }
    }

    // MARK: - Slots

    /// A job of the person gets a task to run.
    mutating func serve(_ place: Int) {
        turns += 1
        records[place].turn = turns
    }

    /// One more attempt occupies a slot.
    mutating func hold(_ place: Int) {
        if records[place].limit == nil { records[place].held += 1 } else { change(place) { $0.held += 1 } }
    }

    /// An attempt occupies its slot no more.
    mutating func release(_ place: Int) {
        if records[place].limit == nil { records[place].held -= 1 } else { change(place) { $0.held -= 1 } }
        leaveIfIdle(place)
    }

    // MARK: - Places

    private mutating func settle(_ name: String?) -> Int {
        // Whoever is new is served after those who wait already.
        turns += 1
        let record = Record(name: name, turn: turns)
        let place = vacant.popLast() ?? records.count
        if place < records.count { records[place] = record } else { records.append(record) }
        position[name] = place
        return place
    }

    private mutating func leaveIfIdle(_ place: Int) {
        guard records[place].jobs == 0, records[place].held == 0 else { return }
        position[records[place].name] = nil
        vacant.append(place)
    }

    private mutating func change(_ place: Int, _ change: (inout Record) -> Void) {
        let (before, room) = (records[place].blocked, records[place].room)
        change(&records[place])
        blocked += records[place].blocked - before
        if records[place].room != room { recount(place) }
    }

    /// Counts a person's waiting tasks anew.
    private mutating func recount(_ place: Int) {
        version += 1
        let isSelective = records[place].waiting.isSelective
        if isSelective { selective.insert(place) } else { selective.remove(place) }
        let counted = isSelective ? 0 : min(records[place].waiting.anywhere, records[place].room ?? .max)
        anywhere += counted - records[place].counted
        records[place].counted = counted
    }

    private static func largest(_ limits: [Int?: Int]) -> Int? {
        limits[nil] == nil ? limits.keys.compactMap(\.self).max() : nil
    }
}
