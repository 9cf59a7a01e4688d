import Base
import SkyCore
import Transport

/// Runs the same job repeatedly over one connection, to measure how long a small job takes.
struct RepeatedJobs {
    let coordinator: CoordinatorConnection

    /// Follows each job to the end that is published to its submitter, deletes it, and then starts the next one.
    ///
    /// Works on the loop that sends its calls and reads their answers, because the change to another thread and back is a sizeable part
    /// of a small job's time, and none of the node's.
    ///
    /// - Throws: `CommandFailure` where a job does not end as done, or has failed tasks.
    func run(_ submission: Submission, _ rounds: Int, _ interrupts: Interrupts) async throws -> JobTimes {
        let loop = await coordinator.coordinator.actorSystem.loopExecutor
        return try await withTaskExecutorPreference(loop) { try await times(submission, rounds, interrupts) }
    }

    private func times(_ submission: Submission, _ rounds: Int, _ interrupts: Interrupts) async throws -> JobTimes {
        var times: [Duration] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            let (job, report) = try await JobWatch(coordinator: coordinator)
                .run(submission, interrupts: interrupts) { _ in }
            times.append(start.duration(to: .now))
            guard report.state == .done, report.failed == 0 else {
                throw CommandFailure(JobSummary.status(report), report.reason.map { PrintableText.of($0) })
            }
            try await coordinator.call(aboutKnownJob: true) { try await $0.delete(job) }
        }
        return JobTimes(times)
    }
}

/// How long jobs took, from submission to their stored end.
struct JobTimes {
    struct Line: Encodable {
        var event = "repeated"
        var jobs: Int
        var p50: Double
        var p99: Double
        var longest: Double
    }

    /// The times in seconds.
    let line: Line

    init(_ times: [Duration]) {
        let sorted = times.sorted()
        func atMost(_ part: Double) -> Double {
            guard !sorted.isEmpty else { return 0 }
            // This is the nearest rank: the smallest time that at least this part of all jobs do not exceed.
            let rank = Int((part * Double(sorted.count)).rounded(.up))
            return sorted[min(max(1, rank), sorted.count) - 1].inSeconds
        }
        line = Line(jobs: sorted.count, p50: atMost(0.5), p99: atMost(0.99), longest: atMost(1))
    }

    var lines: [String] {
        let text = { (seconds: Double) in DurationText.fixed(seconds * 1000, 2) + " ms" }
        return [
            "\(line.jobs) jobs: half took at most \(text(line.p50)), 99 % at most \(text(line.p99)), the longest "
                + "\(text(line.longest))"
        ]
    }
}
