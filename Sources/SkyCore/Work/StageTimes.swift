package import Transport

/// How long an attempt spent in each stage of its work, or all attempts of a node at one job together.
///
/// What the stages are is known to the kind of job only. The cluster passes their names on, also those of later versions.
package struct StageTimes: Hashable, Sendable {
    /// The times by the names of the stages.
    package private(set) var durations: [String: Duration] = [:]

    /// The most stages. The kinds of this version have fewer than ten.
    static let stageLimit = 24
    /// The most bytes of a stage's name.
    static let nameLimit = 24
    /// The longest time in one stage of one attempt: as long as an attempt may take (`AttemptResult.longestDuration`).
    static let longest = Duration.seconds(2 * 86_400)

    /// - Parameter durations: the times by the names of the stages, which never change.
    package init(_ durations: [String: Duration] = [:]) { self.durations = durations }

    package subscript(stage: String) -> Duration { durations[stage] ?? .zero }

    /// Adds the times of another attempt. Stages beyond the limit are left out.
    package mutating func add(_ other: StageTimes) {
        for (stage, duration) in other.durations
        where durations[stage] != nil || durations.count < StageTimes.stageLimit {
            durations[stage, default: .zero] += duration
        }
    }
}

/// Coded as microseconds by names.
extension StageTimes: Codable {
    package init(from decoder: any Decoder) throws {
        let times = try decoder.singleValueContainer().decode([String: Int64].self)
        durations = times.mapValues { .microseconds($0) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // The sums of a long job stay far below the limit, which is in the way of nothing but an overflow.
        try container.encode(durations.mapValues { Int64(max(-9e18, min($0 / .microseconds(1), 9e18))) })
    }
}

extension StageTimes: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            durations.count <= StageTimes.stageLimit, "an attempt with \(durations.count) stages")
        for (stage, duration) in durations {
            try InvalidMessage.unless(
                (1...StageTimes.nameLimit).contains(stage.utf8.count)
                    && stage.utf8.allSatisfy { (0x21...0x7e).contains($0) },
                "a stage's name has 1 to \(StageTimes.nameLimit) bytes of printable ASCII, and no blanks")
            try InvalidMessage.unless(
                (.zero...StageTimes.longest).contains(duration), "a stage takes 0 to 172800 seconds")
        }
    }

    /// Whether an attempt of this version can have taken such times.
    var isSound: Bool { (try? validate()) != nil }
}
