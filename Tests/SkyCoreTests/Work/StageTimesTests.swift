import Foundation
import NIOCore
import Sky
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// The stages of an attempt's work, on their way from a worker to the report of a job.
@Suite struct StageTimesTests {
    private let times = StageTimes(["open": .milliseconds(2), "read": .microseconds(1500)])

    @Test func `they are coded as microseconds by names, on the wire and in journals`() throws {
        let bytes = try WireCoder.encode(times)
        #expect(try WireCoder.decode([String: Int64].self, from: bytes) == ["open": 2000, "read": 1500])
        #expect(try WireCoder.decode(StageTimes.self, from: bytes) == times)
        let text = try JournalText.encode(times)
        #expect(String(decoding: text, as: UTF8.self) == #"{"open":2000,"read":1500}"#)
        #expect(try JournalText.decode(StageTimes.self, text) == times)
    }

    @Test func `times of one attempt after the other are added up, with those of later versions`() {
        var sum = times
        sum.add(StageTimes(["read": .seconds(1), "register": .seconds(3)]))
        #expect(
            sum["read"] == .microseconds(1_001_500) && sum["register"] == .seconds(3) && sum["open"] == .milliseconds(2)
        )
        #expect(sum["draw"] == .zero)
    }

    @Test func `there are never more stages than the limit, whatever nodes make up`() {
        var sum = times
        for number in 0..<1000 { sum.add(StageTimes(["stage\(number)": .seconds(1), "read": .seconds(1)])) }
        #expect(sum.durations.count == StageTimes.stageLimit)
        #expect(sum["read"] > .seconds(1000), "a stage that is known goes on counting")
    }

    @Test func `sums that no number holds are coded as the largest`() throws {
        var sum = StageTimes(["read": .seconds(1 << 60)])
        for _ in 0..<3 { sum.add(sum) }
        let again = try WireCoder.decode(StageTimes.self, from: WireCoder.encode(sum))
        #expect(again["read"] > .seconds(1 << 40))
    }

    @Test(arguments: [
        StageTimes(["read": .microseconds(-1)]), StageTimes(["read": .seconds(172_801)]),
        StageTimes(["read": Duration(secondsComponent: .max, attosecondsComponent: 0)]),
        StageTimes(["": .zero]), StageTimes(["two words": .zero]), StageTimes(["line\nfeed": .zero]),
        StageTimes(["größe": .zero]), StageTimes([String(repeating: "x", count: 25): .zero]),
        StageTimes(Dictionary(uniqueKeysWithValues: (0..<25).map { ("stage\($0)", .zero) })),
    ])
    func `times that no honest node sends are refused with their result, and a worker's are left out`(
        hostile: StageTimes
    ) throws {
        let attempt = AttemptID(job: JobID(rawValue: 1), task: 0, number: 1)
        var result = AttemptResult(sequence: 1, attempt: attempt, outcome: .done(ByteBuffer()), duration: .zero)
        result.stages = times
        #expect(throws: Never.self) { try CollectReply(results: [result]).validate() }
        result.stages = hostile
        #expect(throws: InvalidMessage.self) { try CollectReply(results: [result]).validate() }
        #expect(TaskOutcome(.success(.read(.simulated)), stages: hostile).stages == nil)
        #expect(TaskOutcome(.success(.read(.simulated)), stages: times).stages == times)
    }

    @Test func `the stages of a scan come with their own names`() {
        let stages = Dictionary(uniqueKeysWithValues: ScanStage.allCases.map { ($0, Duration.seconds(1)) })
        let times = StageTimes(stages)
        #expect(times.isSound && times["photometry"] == .seconds(1))
        #expect(times.durations.count == ScanStage.allCases.count)
    }

    // MARK: - Versions before stages were told

    private enum EarlierOutcome: Codable {
        case done(TaskResult)
    }

    private struct EarlierResult: Codable {
        var sequence: UInt64
        var attempt: AttemptID
        var outcome: AttemptOutcome
        var duration: Duration
        var receipt: UInt64?
    }

    private struct EarlierReport: Codable {
        var state: JobReport.State
        var reason: String?
        var scheduled: Int
        var completed: Int
        var failed: Int
        var retries: Int
        var duration: Duration
        var nodes: [NodeShare]
        var cached: Int?
    }

    @Test func `a worker and a daemon of which one is earlier understand each other`() throws {
        let earlier = try WireCoder.decode(
            TaskOutcome.self, from: WireCoder.encode(EarlierOutcome.done(.simulated)))
        #expect(earlier.stages == nil)
        #expect(throws: Never.self) { try earlier.end.get() }
        let later = try WireCoder.encode(TaskOutcome(.success(.read(.simulated)), stages: times))
        guard case .done = try WireCoder.decode(EarlierOutcome.self, from: later) else { return }
        #expect(try WireCoder.decode(TaskOutcome.self, from: later).stages == times)
    }

    @Test func `a node and a coordinator of which one is earlier understand each other`() throws {
        let attempt = AttemptID(job: JobID(rawValue: 1), task: 0, number: 1)
        let bytes = try WireCoder.encode(
            EarlierResult(
                sequence: 1, attempt: attempt, outcome: .done(ByteBuffer()), duration: .seconds(1), receipt: 7))
        let result = AttemptResult(
            sequence: 1, attempt: attempt, outcome: .done(ByteBuffer()), duration: .seconds(1), receipt: 7)
        #expect(try WireCoder.decode(AttemptResult.self, from: bytes) == result)
        #expect(try WireCoder.encode(result) == bytes, "without stages the bytes are those of before")
        var later = result
        later.stages = times
        let told = try WireCoder.encode(later)
        #expect(try WireCoder.decode(EarlierResult.self, from: told).receipt == 7)
        #expect(try WireCoder.decode(AttemptResult.self, from: told) == later)
    }

    @Test
    func `reports of earlier versions tell no work, in journals and on the wire, and earlier versions read later ones`()
        throws
    {
        let earlier = EarlierReport(
            state: .done, scheduled: 2, completed: 2, failed: 0, retries: 0, duration: .seconds(3), nodes: [], cached: 0
        )
        #expect(try JournalText.decode(JobReport.self, JournalText.encode(earlier)).work == nil)
        #expect(try WireCoder.decode(JobReport.self, from: WireCoder.encode(earlier)).work == nil)
        var work = NodeWork(name: "east")
        (work.tasks, work.duration, work.slots, work.stages) = (2, .seconds(4), 2, times)
        var later = try JournalText.decode(JobReport.self, JournalText.encode(earlier))
        later.work = [work]
        #expect(try JournalText.decode(EarlierReport.self, JournalText.encode(later)).completed == 2)
        #expect(try WireCoder.decode(EarlierReport.self, from: WireCoder.encode(later)).completed == 2)
        #expect(try JournalText.decode(JobReport.self, JournalText.encode(later)).work == [work])
        #expect(try WireCoder.decode(JobReport.self, from: WireCoder.encode(later)).work == [work])
    }
}
