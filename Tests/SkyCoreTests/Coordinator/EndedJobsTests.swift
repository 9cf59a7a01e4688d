import Testing

@testable import SkyCore

/// Which jobs that have ended are forgotten, and when.
@Suite struct EndedJobsTests {
    private func id(_ number: Int) -> JobID { JobID(rawValue: UInt64(number)) }

    private func retention(_ count: Int, age: Duration = .seconds(1000)) -> JobRetention {
        var retention = JobRetention()
        (retention.count, retention.age) = (count, age)
        return retention
    }

    @Test func `jobs that ended first are removed first, whatever the order of submission`() {
        var jobs = EndedJobs()
        for (number, end) in [(1, 50), (2, 10), (3, 30)] { jobs.insert(id(number), endedAt: .seconds(end)) }
        #expect(jobs.surplus(retention(1), now: .seconds(500)) == [id(2), id(3)])
        #expect(jobs.oldest(now: .seconds(500)) == id(2))
    }

    @Test func `an ended job is kept a minute for its results, and longer while they are fetched`() {
        var jobs = EndedJobs()
        for number in 1...5 { jobs.insert(id(number), endedAt: .seconds(number)) }
        #expect(jobs.surplus(retention(0), now: .seconds(60)).isEmpty && jobs.oldest(now: .seconds(60)) == nil)
        #expect(jobs.surplus(retention(0), now: .seconds(62)) == [id(1), id(2)])
        jobs.use(id(1), now: .seconds(61))
        #expect(jobs.surplus(retention(0), now: .seconds(62)) == [id(2)])
        #expect(jobs.nextFree(among: 5) == .seconds(62))
        #expect(jobs.surplus(retention(0), now: .seconds(121)).contains(id(1)))
    }

    @Test func `a stream of tiny jobs does not fill the memory`() {
        var jobs = EndedJobs()
        for number in 0..<(EndedJobs.graceLimit + 20) { jobs.insert(id(number), endedAt: .zero) }
        #expect(jobs.surplus(retention(10), now: .seconds(1)).map(\.rawValue) == Array(0..<10))
    }

    @Test func `a job's age counts the time its coordinator ran, and removed jobs are not named`() {
        var jobs = EndedJobs()
        jobs.insert(id(1), endedAt: .seconds(-2000))
        jobs.insert(id(2), endedAt: .seconds(-500))
        #expect(jobs.surplus(retention(9), now: .seconds(100)) == [id(1)])
        jobs.remove(id(1))
        jobs.remove(id(1))
        #expect(jobs.surplus(retention(9), now: .seconds(100)).isEmpty && jobs.count == 1)
        #expect(jobs.surplus(retention(9), now: .seconds(700)) == [id(2)])
    }
}
