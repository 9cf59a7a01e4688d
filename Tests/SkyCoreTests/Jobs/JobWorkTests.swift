import NIOCore
import Testing

@testable import SkyCore

/// What the nodes did for a job, added up.
@Suite struct JobWorkTests {
    @Test func `the attempts of a node are added up, in the order of names`() {
        var work = JobWork()
        work.add(.seconds(2), StageTimes(["read": .seconds(1)]), on: "west", slots: 1)
        work.add(.seconds(3), StageTimes(["read": .seconds(2), "draw": .seconds(1)]), on: "east", slots: 2)
        work.add(.seconds(4), nil, on: "east", slots: 1)
        #expect(work.list.map(\.name) == ["east", "west"])
        let east = work.list[0]
        #expect(east.tasks == 2 && east.duration == .seconds(7) && east.slots == 2)
        #expect(east.stages.durations == ["read": .seconds(2), "draw": .seconds(1)])
    }

    @Test func `there are no more nodes than the limit, and none of their work is lost`() {
        var work = JobWork()
        for number in 0..<3 * JobWork.nodeLimit { work.add(.seconds(1), nil, on: "node\(number)", slots: 1) }
        #expect(work.list.count == JobWork.nodeLimit + 1)
        #expect(work.list.first?.name == "" && work.list.first?.tasks == 2 * JobWork.nodeLimit)
        #expect(work.list.reduce(0) { $0 + $1.tasks } == 3 * JobWork.nodeLimit)
    }

    @Test func `the longest attempts of the longest job do not overflow`() {
        var work = JobWork()
        for _ in 0..<1000 {
            work.add(AttemptResult.longestDuration, StageTimes(["read": StageTimes.longest]), on: "east", slots: .max)
        }
        #expect(work.list[0].stages["read"] == StageTimes.longest * 1000)
    }

    @Test func `a report tells what counted, and nothing of earlier results and of attempts that were dropped`() throws
    {
        var jobs = CoordinatedJobs(ranBefore: .zero)
        guard
            case .new(let stored) = try jobs.submit(
                CoordinatorStory.simulation(3), token: nil, as: JobID(rawValue: 1), now: .zero, wall: 0)
        else { return }
        func attempt(_ task: Int, number: Int = 1) -> AttemptID {
            AttemptID(job: stored.id, task: TaskID(task), number: number, generation: 1)
        }
        let stages = StageTimes(["read": .seconds(1)])
        for attempt in [attempt(0), attempt(1, number: 0), attempt(2)] {
            _ = jobs.keep(ByteBuffer(), of: attempt, took: .seconds(2), stages: stages, isComparable: true)
        }
        jobs.drop(attempt(2))
        for attempt in [attempt(0), attempt(1, number: 0), attempt(2)] {
            _ = jobs.commit(attempt, by: "east", slots: 4)
        }
        let report = jobs.end(stored.id, JobOutcome(), now: .seconds(3), wall: 0)
        var east = NodeWork(name: "east")
        (east.tasks, east.duration, east.slots, east.stages) = (1, .seconds(2), 4, stages)
        #expect(report?.work == [east])
        #expect(jobs[stored.id]?.work.list.isEmpty == true, "the memory is free again")
    }
}
