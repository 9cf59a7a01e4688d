/// One unit of a job: what a node is asked to do. A task is idempotent, so that it may be tried again anywhere.
package struct ScanTask: Codable, Sendable {
    /// The work of a task, of any kind.
    package struct Work: Sendable {
        package var value: any KindWork

        package init(_ value: some KindWork) { self.value = value }
    }

    package var work: Work
    /// The name that people see: "sector 9".
    package var label: String
    /// Faults to rehearse; there are none in real work.
    package var rehearsal = Rehearsal()

    package init(_ work: Work, label: String) {
        self.work = work
        self.label = label
    }
}

extension ScanTask.Work: Codable {
    package init(from decoder: any Decoder) throws { value = try JobKinds.work(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension ScanTask {
    /// About how many bytes the task takes in memory.
    var byteCount: Int { work.value.byteCount }
}

/// Faults that are made on purpose, to see a retry.
package struct Rehearsal: Codable, Sendable {
    /// The attempt fails, after the time that it takes. The coordinator clears this once an attempt has failed, because the
    /// attempt that was made first may be overtaken by a speculative attempt, or may never run.
    package var failsFirstAttempt = false
    /// Kills the process that runs the first attempt. A daemon obeys only if its operator allowed it.
    package var crashesFirstAttempt = false
    /// The fault that every attempt shows.
    package var poison: Poison?

    package init() {}

    var isAny: Bool { failsFirstAttempt || crashesFirstAttempt || poison != nil }
}

/// A fault that every attempt at a task shows.
package enum Poison: String, Codable, Sendable, CaseIterable {
    /// The attempt crashes its worker process.
    case crash
    /// The attempt never ends.
    case hang
    /// The attempt takes memory until there is none.
    case memory
    /// The attempt kills the daemon, if the daemon's operator allowed it.
    case node
}
