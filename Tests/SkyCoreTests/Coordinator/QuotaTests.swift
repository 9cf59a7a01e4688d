import Base
import Fixtures
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore

/// What a coordinator lets people with limits do, by hand.
@Suite struct QuotaTests {
    private func id(_ number: UInt64) -> JobID { JobID(rawValue: number) }

    /// A request as the coordinator's door leaves it.
    private func request(
        _ kind: JobRequest, by name: String = "alice", slots: Int? = nil, jobs: Int? = nil, bytes: Int? = nil
    ) -> JobRequest {
        var request = kind
        request.submitter = name
        request.limits = PersonalLimits(slots: slots, jobs: jobs, bytes: bytes)
        return request
    }

    private func submit(
        _ request: JobRequest, token: String? = nil, as number: UInt64, to story: inout CoordinatorStory
    ) -> String? {
        do {
            _ = try story.submit(request, token: token, as: number)
            return nil
        } catch {
            return (error as? SkyError)?.message ?? "\(error)"
        }
    }

    /// Delivers results until nothing runs.
    private func run(_ story: inout CoordinatorStory, from place: Int = 0) {
        var next = place
        while next < story.assigned.count {
            let (request, node) = story.assigned[next]
            story.deliver(request.attempt, .done(ByteBuffer()), from: node, receipt: request.receipt, took: .seconds(1))
            story.store()
            next += 1
        }
    }

    // MARK: - Without limits in the credential

    @Test func `a user without limits may have ten thousand jobs at once, and an operator more`() {
        var story = CoordinatorStory()
        let request = request(CoordinatorStory.simulation(1))
        for job in 1...10_000 as ClosedRange<UInt64> {
            guard (try? story.submit(request, as: job, isUser: true)) != nil else {
                Issue.record("job \(job) was refused")
                return
            }
        }
        #expect(throws: PassingRefusal.self) { try story.submit(request, as: 20_000, isUser: true) }
        #expect(submit(request, as: 20_001, to: &story) == nil, "the same person with an operator's credential")
        do {
            _ = try story.submit(request, as: 20_002, isUser: true)
        } catch {
            let words =
                "alice may have 10000 jobs at once, and 10001 go on; another is taken when one of them has ended, or with"
            #expect((error as? PassingRefusal)?.message.hasPrefix(words) == true, "\(error)")
        }
        let more = self.request(CoordinatorStory.simulation(1), jobs: 20_000)
        #expect((try? story.submit(more, as: 20_003, isUser: true)) != nil, "a credential may allow more")
    }

    @Test func `the requests of a user without limits are bounded in bytes, until jobs end`() throws {
        var story = CoordinatorStory()
        var large = request(CoordinatorStory.simulation(1))
        large.options.use = Set((0..<1000).map { "\($0)" + String(repeating: "n", count: 250) })
        var taken: UInt64 = 0
        var refusal: PassingRefusal?
        while taken < 1000, refusal == nil {
            do { _ = try story.submit(large, as: taken + 1, isUser: true) } catch { refusal = error as? PassingRefusal }
            if refusal == nil { taken += 1 }
        }
        #expect((120...140).contains(taken), "\(taken) jobs of 250 KiB")
        let words = try #require(refusal?.message)
        #expect(words.hasPrefix("the requests of alice's jobs that go on may take 32 MiB, and would take 32 MiB; "))
        #expect(words.contains("names fewer nodes") && words.contains("key issue --bytes"))
        #expect(throws: Never.self) { try story.submit(request(CoordinatorStory.simulation(1), by: "bob"), as: 2000) }
        #expect(throws: Never.self) { try story.submit(large, as: 2001) }
        story.change { $0.cancel(JobID(rawValue: 1)) }
        story.change { $0.cancel(JobID(rawValue: 2)) }
        story.store()
        #expect(throws: Never.self) { try story.submit(large, as: 2002, isUser: true) }
    }

    @Test func `a job keeps no second copy of its request`() throws {
        var story = CoordinatorStory()
        _ = try story.submit(CoordinatorStory.simulation(1), as: 1)
        #expect(story.core.jobs[id(1)]?.stored.encodedRequest == nil)
        #expect(
            story.done.entries.contains {
                if case .submitted(let job) = $0 { job.encodedRequest != nil } else { false }
            })
    }

    // MARK: - Jobs at once

    @Test func `one job too many is refused, and leaves nothing`() {
        var story = CoordinatorStory()
        let request = request(CoordinatorStory.simulation(1), jobs: 2)
        #expect(submit(request, token: "a", as: 1, to: &story) == nil)
        #expect(submit(request, as: 2, to: &story) == nil)
        let entries = story.done.entries.count
        let words = "alice may have 2 jobs at once, and 2 go on; another is taken when one of them has ended"
        #expect(submit(request, as: 3, to: &story) == words)
        #expect(story.core.jobs.order == [id(1), id(2)] && story.done.entries.count == entries)
        #expect(story.core.writeAhead.lastEntry == 2)
        #expect(submit(request, token: "a", as: 4, to: &story) == nil, "a repeated submission starts nothing")
        #expect(submit(self.request(CoordinatorStory.simulation(1), by: "bob", jobs: 1), as: 5, to: &story) == nil)
        #expect(submit(CoordinatorStory.simulation(1), as: 6, to: &story) == nil)
        story.change { $0.cancel(id(1)) }
        #expect(submit(request, as: 7, to: &story) == nil)
        #expect(submit(request, as: 8, to: &story) != nil)
        story.change { $0.delete(id(2)) }
        #expect(submit(request, as: 9, to: &story) == nil)
        #expect(story.core.jobs.quotas.usage(of: "alice").active == 2)
    }

    @Test func `a token names its job also for a credential with other limits`() throws {
        var story = CoordinatorStory()
        let first = request(CoordinatorStory.simulation(1), jobs: 2)
        #expect(try story.submit(first, token: "night", as: 1) == id(1))
        #expect(try story.submit(request(CoordinatorStory.simulation(1), jobs: 9), token: "night", as: 2) == id(1))
        #expect(submit(request(CoordinatorStory.simulation(1), by: "bob"), token: "night", as: 3, to: &story) != nil)
        #expect(story.core.jobs[id(1)]?.request.limits?.jobs == 2, "those of the submission count")
    }

    @Test func `jobs of coordinators that this node has taken over count`() {
        var story = CoordinatorStory()
        var other = PersonUsage("alice")
        (other.active, other.bytes) = (1, 10_000)
        func refusal(_ request: JobRequest) -> String? {
            var words: String?
            story.change { core in
                do {
                    _ = try core.submit(request, token: nil, as: .random(), beside: other)
                } catch {
                    words = "\(error)"
                }
            }
            return words
        }
        #expect(
            refusal(request(CoordinatorStory.simulation(1), jobs: 1))?.contains("1 job at once, and 1 goes on") == true)
        #expect(
            refusal(request(CoordinatorStory.simulation(1), bytes: 10_000))
                == "the jobs of alice store 10000 bytes here, and may store 10000 bytes; delete some of them")
        #expect(refusal(request(CoordinatorStory.simulation(1), jobs: 2, bytes: 20_000)) == nil)
    }

    // MARK: - Bytes

    /// The bytes that a job of a person takes whose results are not needed.
    private func bytes(_ request: JobRequest, results: Int) throws -> Int {
        StoredJob.rowBytes + (try JournalText.encode(request).count) + results * StoredResult.rowBytes
    }

    @Test func `what is stored counts until it is deleted, and the refusal says what to delete`() throws {
        var story = CoordinatorStory()
        story.lease(4, on: story.own)
        let (large, small) = (
            request(CoordinatorStory.simulation(50), bytes: 4480), request(CoordinatorStory.simulation(1), bytes: 4480)
        )
        #expect(submit(small, as: 1, to: &story) == nil && submit(large, as: 2, to: &story) == nil)
        run(&story)
        let held = try bytes(small, results: 1) + bytes(large, results: 50)
        #expect(story.core.jobs.quotas.usages.map(\.bytes) == [held] && held > 4480)
        #expect(story.core.jobs[id(2)]?.report?.state == .done, "it was done when the limit was reached")
        let words = submit(small, as: 3, to: &story)
        #expect(
            words?.hasPrefix("the jobs of alice store \(held) bytes here, and may store 4480 bytes; delete") == true)
        #expect(words?.hasSuffix("(the largest is \(id(2)), \(try bytes(large, results: 50)) bytes)") == true)
        story.change { $0.delete(id(2)) }
        #expect(submit(small, as: 3, to: &story) == nil)
        for job in [1, 3] as [UInt64] { story.change { $0.delete(id(job)) } }
        #expect(story.core.jobs.quotas.usages.isEmpty)
    }

    @Test func `a job that is beyond the limit with others waits, and goes on when they are deleted`() throws {
        var story = CoordinatorStory()
        story.lease(1, on: story.own)
        let first = request(CoordinatorStory.simulation(20), bytes: 3700)
        #expect(submit(first, as: 1, to: &story) == nil)
        run(&story)
        #expect(submit(request(CoordinatorStory.simulation(20), bytes: 3700), as: 2, to: &story) == nil)
        let sent = story.assigned.count
        run(&story, from: sent - 1)
        let stopped = story.assigned.count
        #expect(stopped > sent && stopped < 40, "\(stopped)")
        let job = try #require(story.core.jobs[id(2)])
        let reason = try #require(story.core.pauseReason(of: job))
        #expect(
            reason.hasPrefix("the jobs of alice store ")
                && reason.hasSuffix("may store 3700 bytes; delete some of them"))
        let explanation = try #require(story.core.explain(id(2), now: .zero))
        #expect(explanation.reasons.first == "nothing more of it is sent out: \(reason)")
        #expect(!explanation.reasons.contains { $0.contains("wait for a slot") }, "\(explanation.reasons)")
        story.change { $0.delete(id(1)) }
        #expect(story.core.pauseReason(of: job) == nil && story.assigned.count == stopped + 1)
        run(&story, from: stopped)
        #expect(story.core.jobs[id(2)]?.report?.state == .done)
    }

    @Test func `a job that is beyond the limit alone fails, because nothing else can be deleted`() throws {
        var story = CoordinatorStory()
        story.lease(1, on: story.own)
        #expect(submit(request(CoordinatorStory.simulation(100), bytes: 1700), as: 1, to: &story) == nil)
        run(&story)
        let report = try #require(story.core.jobs[id(1)]?.report)
        #expect(report.state == .failed && report.completed > 5 && report.completed < 20)
        #expect(
            report.reason?.contains("alone takes") == true && report.reason?.contains("may store 1700 bytes") == true)
        #expect(report.bytes == story.core.jobs.quotas.usage(of: "alice").bytes)
    }

    // MARK: - Slots

    @Test func `what waits for the person's own slots says so`() throws {
        var story = CoordinatorStory()
        story.lease(6, on: story.own)
        let request = request(CoordinatorStory.simulation(10), slots: 2)
        #expect(submit(request, as: 1, to: &story) == nil && submit(request, as: 2, to: &story) == nil)
        #expect(story.assigned.count == 2)
        let reasons = try #require(story.core.explain(id(2), now: .zero)).reasons
        #expect(
            reasons.first == "10 tasks wait for a slot of alice's: their jobs may hold 2 slots and hold 2", "\(reasons)"
        )
        #expect(submit(self.request(CoordinatorStory.simulation(2), by: "bob"), as: 3, to: &story) == nil)
        #expect(story.assigned.count == 4)
    }

    // MARK: - Restarts

    @Test func `limits and what is stored are the same after a restart`() async throws {
        let folder = ScratchFolder()
        var story = CoordinatorStory()
        story.lease(1, on: story.own)
        let limited = request(CoordinatorStory.simulation(30), slots: 1, jobs: 2, bytes: 1 << 20)
        #expect(submit(limited, as: 1, to: &story) == nil)
        run(&story)
        #expect(submit(limited, as: 2, to: &story) == nil)
        let (attempt, node) = try #require(story.assigned.last)
        story.deliver(attempt.attempt, .done(ByteBuffer()), from: node, receipt: attempt.receipt)
        story.store()
        let before = story.core.jobs.quotas.usage(of: "alice")
        do {
            let journal = try Journal(in: JournalFolder(folder.path))
            try await journal.append(story.done.entries)
        }
        let journal = try Journal(in: JournalFolder(folder.path))
        var next = CoordinatorStory(generation: 3)
        for job in try await journal.jobs().jobs {
            let replay = job.report == nil ? try await journal.replay(job) : JobReplay(job.request)
            next.change { $0.restore(job, replay) }
        }
        #expect(next.core.jobs.quotas.usages == [before] && before.active == 1 && before.jobs == 2)
        #expect(next.core.jobs[id(2)]?.request.limits == limited.limits)
        next.lease(3, on: next.own)
        next.store()
        #expect(next.assigned.count == 1, "one slot")
        #expect(submit(limited, as: 3, to: &next) == nil)
        #expect(submit(limited, as: 4, to: &next)?.hasPrefix("alice may have 2 jobs at once") == true)
    }

    @Test func `a job that was withheld is withheld after a restart`() {
        var story = CoordinatorStory()
        let ended = StoredJob(id: id(1), token: nil, request: request(CoordinatorStory.simulation(1)), submitted: 1)
        var report = JobReport(
            state: .done, scheduled: 1, completed: 1, failed: 0, retries: 0, duration: .zero, nodes: [])
        report.bytes = 6000
        for (job, isEnded) in [(ended, true), (ended, false)] {
            var job = job
            if isEnded { job.report = report } else { job.id = id(2) }
            job.request.limits = PersonalLimits(bytes: 6000)
            story.change { $0.restore(job, JobReplay(job.request)) }
        }
        story.lease(1, on: story.own)
        #expect(story.assigned.isEmpty)
        story.change { $0.delete(id(1)) }
        #expect(story.assigned.count == 1)
    }

    @Test func `a request of before there were limits is read, and its text stays the same`() throws {
        let text = try JournalText.encode(CoordinatorStory.simulation(1))
        #expect(!String(decoding: text, as: UTF8.self).contains("limits"))
        #expect(try JournalText.decode(JobRequest.self, text).limits == nil)
        let limited = request(CoordinatorStory.simulation(1), slots: 3)
        let read = try JournalText.decode(JobRequest.self, JournalText.encode(limited))
        #expect(read.limits == limited.limits && read.submitter == "alice")
    }
}
