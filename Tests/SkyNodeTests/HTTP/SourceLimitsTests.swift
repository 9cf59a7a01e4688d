import Testing
import Transport

@testable import SkyNode

struct SourceLimitsTests {
    private func source(_ number: Int) throws -> HTTPSource {
        HTTPSource(try #require(IPAddress(bytes: [10, 0, UInt8(number / 256), UInt8(number % 256)])))
    }

    private var limits: HTTPLimits {
        var limits = HTTPLimits()
        (limits.requestRate, limits.requestBurst, limits.guessRate, limits.guessBurst) = (1, 2, 0.5, 1)
        limits.sources = 3
        return limits
    }

    @Test func `each source has its own limit of requests`() throws {
        var sources = SourceLimits(limits: limits)
        let (one, other) = (try source(1), try source(2))
        #expect((1...3).map { _ in sources.takeRequest(one, at: .zero) } == [true, true, false])
        let others = sources.takeRequest(other, at: .zero)
        #expect(others)
        let later = sources.takeRequest(one, at: .seconds(1))
        #expect(later)
    }

    @Test func `guesses are counted separately`() throws {
        var sources = SourceLimits(limits: limits)
        let one = try source(1)
        let guesses = [0, 0, 1, 2, 3].map { sources.takeGuess(one, at: .seconds($0)) }
        #expect(guesses == [true, false, false, true, false])
        let right = sources.takeRequest(one, at: .zero)
        #expect(right)
    }

    @Test func `the number of remembered sources is limited`() throws {
        var sources = SourceLimits(limits: limits)
        let first = try source(0)
        _ = sources.takeGuess(first, at: .zero)
        for number in 1...50_000 {
            _ = sources.takeRequest(try source(number), at: .zero)
            // A source that goes on guessing is not forgotten.
            if number % 2 == 0 { #expect(sources.takeGuess(first, at: .zero) == false) }
        }
        #expect(sources.count == 3)
    }
}
