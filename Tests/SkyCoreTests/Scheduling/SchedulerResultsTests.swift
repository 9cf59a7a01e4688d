import SkyCore
import Testing
import Transport

@Suite("Scheduler: results and the end of jobs")
struct SchedulerResultsTests {
    let east = SchedulerStory.east
    let west = SchedulerStory.west
    let job = SchedulerStory.job

    @Test("commits a result once and discards the second")
    func commitsOnce() {
        var story = SchedulerStory([east: 1])
        story.submit(2)
        let first = story.handle(.succeeded(attempt(0), on: east))
        #expect(first.contains(.completed(AttemptID(job: job, task: 0, number: 1), on: east)))
        #expect(story.handle(.succeeded(attempt(0), on: east)).withoutDemands == [.discarded(attempt(0))])
    }

    @Test("accepts the late result of an attempt given up as lost, and stops the newer one")
    func acceptsLateResult() {
        var story = SchedulerStory([east: 1])
        story.submit(2)
        story.handle(.nodeJoined(west))
        story.handle(.nodeLost(east))
        story.lease(west, 1)
        let actions = story.handle(.succeeded(attempt(0), on: east)).withoutDemands
        #expect(
            actions == [.stop(attempt(0, 2), on: west), .completed(AttemptID(job: job, task: 0, number: 1), on: east)])
        // The stopped attempt occupies its slot until it has ended.
        #expect(story.scheduler.running(on: west) == 1)
        #expect(story.handle(.failed(attempt(0, 2), on: west, .refused("stopped"))).runs.map(\.attempt) == [attempt(1)])
    }

    @Test("accepts the late result of a task that waits, and does not run it again")
    func acceptsLateResultOfWaiting() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        story.handle(.nodeLost(east))
        let actions = story.handle(.succeeded(attempt(0), on: east))
        #expect(actions.outcome == JobOutcome(completed: 1, retries: 1))
        story.handle(.nodeJoined(west))
        #expect(story.lease(west, 1).runs.isEmpty)
    }

    @Test("a late failure of an attempt given up as lost changes nothing")
    func ignoresLateFailure() {
        var story = SchedulerStory([east: 1, west: 1])
        story.submit(1)
        story.handle(.nodeLost(east))
        #expect(story.handle(.failed(attempt(0), on: east, .permanent("x"))).withoutDemands.isEmpty)
        #expect(story.handle(.succeeded(attempt(0, 2), on: west)).outcome?.completed == 1)
    }

    @Test("a late failure is not charged to the newer attempt on the same node")
    func fencesFailuresByNumber() {
        var story = SchedulerStory([east: 1])
        story.submit(1)
        story.handle(.failed(attempt(0), on: east, .nodeLost("connection lost")))
        #expect(story.wait(.seconds(3)).runs.map(\.attempt) == [attempt(0, 2)])
        #expect(story.handle(.failed(attempt(0), on: east, .permanent("x"))).withoutDemands.isEmpty)
        #expect(story.handle(.succeeded(attempt(0, 2), on: east)).outcome?.completed == 1)
    }

    @Test("ends a job in phases only when it is sealed")
    func waitsForSeal() {
        var story = SchedulerStory([east: 1])
        story.handle(.submitted(job, tasks: 1))
        #expect(story.handle(.succeeded(attempt(0), on: east)).outcome == nil)
        #expect(story.handle(.tasksAdded(job, count: 1)).runs.map(\.attempt) == [attempt(1)])
        #expect(story.handle(.noMoreTasks(job)).outcome == nil)
        #expect(story.handle(.tasksAdded(job, count: 5)).runs.isEmpty)
        #expect(story.handle(.succeeded(attempt(1), on: east)).outcome == JobOutcome(completed: 2))
        #expect(story.scheduler.progress(of: job) == nil)
    }

    @Test("a job without tasks ends when it is sealed")
    func endsEmptyJob() {
        var story = SchedulerStory()
        #expect(story.submit(0).outcome == JobOutcome())
    }

    @Test("cancelling stops what runs, ends the job once, and discards what comes late")
    func cancels() {
        var story = SchedulerStory([east: 2])
        story.submit(5)
        story.handle(.succeeded(attempt(0), on: east))
        #expect(
            story.handle(.cancelled(job)).withoutDemands == [
                .stop(attempt(1), on: east), .stop(attempt(2), on: east),
                .jobFinished(job, JobOutcome(completed: 1, cancelled: 4)),
            ])
        #expect(story.handle(.cancelled(job)).isEmpty)
        #expect(story.scheduler.running(on: east) == 2)
        #expect(story.handle(.succeeded(attempt(1), on: east)).withoutDemands == [.discarded(attempt(1))])
        #expect(story.handle(.failed(attempt(2), on: east, .refused("stopped"))).withoutDemands.isEmpty)
        #expect(story.scheduler.running(on: east) == 0)
    }

    @Test("reports progress that adds up")
    func reportsProgress() {
        var story = SchedulerStory([east: 2, west: 1])
        story.submit(6)
        story.handle(.succeeded(attempt(0), on: east))
        story.handle(.failed(attempt(1), on: west, .permanent("x")))
        story.handle(.failed(attempt(2), on: east, .fault("x")))
        let progress = story.scheduler.progress(of: job)
        #expect(progress?.scheduled == 6)
        #expect(progress?.waiting == 1)
        #expect(progress?.running == 3)
        #expect(progress?.completed == 1)
        #expect(progress?.failed == 1)
        #expect(progress?.retried == 1)
        #expect(progress?.completedByNode == [east: 1])
    }
}
