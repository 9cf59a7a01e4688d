/// One unit of a job: what a node is asked to do. Idempotent, so that it may be tried again anywhere.
package struct ScanTask: Codable, Sendable {
    /// What is to be done, of any kind that there is.
    package struct Work: Sendable {
        package var value: any KindWork

        package init(_ value: some KindWork) { self.value = value }
    }

    package var work: Work
    /// What people see: "sector 9".
    package var label: String
    /// Faults to rehearse; none in earnest work.
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
    /// About what it takes in memory.
    var byteCount: Int { work.value.byteCount }
}

/// Faults made on purpose, to see a retry.
package struct Rehearsal: Codable, Sendable {
    /// Fails, after its time. The coordinator takes it back once an attempt has failed: the first to be made may be overtaken by
    /// its speculative one, or never run.
    package var failsFirstAttempt = false
    /// Kills the process that runs the first attempt. A daemon obeys only where its operator allowed it.
    package var crashesFirstAttempt = false
    /// What every attempt does.
    package var poison: Poison?

    package init() {}

    var isAny: Bool { failsFirstAttempt || crashesFirstAttempt || poison != nil }
}

/// A fault that every attempt at a task shows.
package enum Poison: String, Codable, Sendable, CaseIterable {
    /// Crashes its worker process.
    case crash
    /// Never comes back.
    case hang
    /// Takes memory until there is none.
    case memory
    /// Kills the daemon, where its operator allowed it.
    case node
}
