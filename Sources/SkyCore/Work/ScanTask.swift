package import Sky

/// One unit of a job: what a node is asked to do. Idempotent, so that it may be tried again anywhere.
package struct ScanTask: Codable, Sendable {
    /// The kinds of work, with what each needs.
    package enum Work: Sendable {
        /// The rehearsal: takes its time and does nothing.
        case simulate(Simulation)
        /// On images.
        case sky(SkyWork)
        /// Read a part of an image for another node.
        case pixels(PixelRequest)
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
    /// Work on images goes over the wire under its own names, beside these.
    private enum CodingKeys: CodingKey {
        case simulate, pixels
    }

    private enum ValueKeys: String, CodingKey {
        case value = "_0"
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ type: Value.Type, _ key: CodingKeys) throws -> Value {
            try container.nestedContainer(keyedBy: ValueKeys.self, forKey: key).decode(type, forKey: .value)
        }
        switch container.allKeys.first {
        case .simulate: self = .simulate(try value(Simulation.self, .simulate))
        case .pixels: self = .pixels(try value(PixelRequest.self, .pixels))
        case nil: self = .sky(try SkyWork(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        func write(_ value: some Encodable, _ key: CodingKeys) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            var values = container.nestedContainer(keyedBy: ValueKeys.self, forKey: key)
            try values.encode(value, forKey: .value)
        }
        switch self {
        case .simulate(let simulation): try write(simulation, .simulate)
        case .pixels(let request): try write(request, .pixels)
        case .sky(let work): try work.encode(to: encoder)
        }
    }
}

extension ScanTask {
    /// About what it takes in memory.
    var byteCount: Int {
        switch work {
        case .sky(let work): work.byteCount
        case .simulate, .pixels: 1024
        }
    }
}

/// Time that passes without a thread being blocked.
package struct Simulation: Codable, Sendable {
    package var duration: Duration

    package init(duration: Duration) {
        self.duration = duration
    }
}

/// Faults made on purpose, to see a retry.
package struct Rehearsal: Codable, Sendable {
    /// Fails, after its time. The coordinator takes it back once an attempt has failed: the first to be made may be overtaken by
    /// its twin, or never run.
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
