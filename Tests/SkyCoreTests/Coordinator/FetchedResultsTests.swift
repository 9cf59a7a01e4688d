import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

@Suite struct FetchedResultsTests {
    private func job(_ number: Int) -> JobID { JobID(rawValue: UInt64(number)) }

    private func entry(bytes: Int = 0) -> FetchedResults.Entry {
        let cutouts = EpochCutouts(old: [], new: [UInt8](repeating: 0, count: bytes), difference: nil, side: 1)
        return ComparedParts(parts: bytes > 0 ? [.cutouts([cutouts])] : [])
    }

    @Test func `calls for results that are being read share one reading, which ends with the last call`()
        async throws
    {
        var results = FetchedResults()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let entry = entry()
        let reading = Task<FetchedResults.Entry, any Error> {
            for await _ in gate {}
            return entry
        }
        #expect(results.reading(job(1)) == nil)
        results.begin(job(1), reading)
        for _ in 0..<5 {
            let found = try #require(results.reading(job(1)))
            #expect(found == reading)
            results.begin(job(1), found)
        }
        #expect(results.reading(job(2)) == nil, "another job's is another one")
        open.finish()
        _ = try await reading.value
        for _ in 0..<5 { results.end(job(1), reading) }
        #expect(results.reading(job(1)) == reading, "one waits still")
        results.end(job(1), reading)
        #expect(results.reading(job(1)) == nil)
    }

    @Test func `the results of as many jobs are kept as a command fetches at a time`() {
        var results = FetchedResults()
        let width = 64
        for number in 1...width { results.insert(job(number), entry()) }
        #expect((1...width).allSatisfy { results[job($0)] != nil })
        results.insert(job(width + 1), entry())
        #expect(results[job(1)] == nil && results[job(2)] != nil && results[job(width + 1)] != nil)
    }

    @Test func `the kept results are limited in bytes, but the newest is always kept`() {
        var results = FetchedResults()
        for number in 1...3 { results.insert(job(number), entry(bytes: 100 << 20)) }
        #expect((1...3).map { results[job($0)] != nil } == [false, true, true])
        results.insert(job(4), entry(bytes: 300 << 20))
        #expect((1...4).map { results[job($0)] != nil } == [false, false, false, true])
    }
}
