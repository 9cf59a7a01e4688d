import Fixtures
import Testing

@testable import Sky

@Suite struct DetectorLinesTests {
    private let info = TestFrame(width: 2000, height: 2000, seed: 1).info

    private func candidate(
        _ x: Double, _ y: Double, brighter: Bool = true, shift: Double = 40, _ significance: Double = 6
    ) -> DifferenceCandidate {
        DifferenceCandidate(
            x: x, y: y, xOld: x + shift, yOld: y - 0.3 * shift, positionError: 0.2, fluxDifference: 500,
            fluxDifferenceError: 50, fluxNew: 500, fluxNewError: 50, fluxOld: 0, fluxOldError: 50,
            significance: brighter ? significance : -significance)
    }

    private func scattered(_ count: Int) -> [DifferenceCandidate] {
        var random = RandomStream(seed: 3, purpose: 3)
        return (0..<count).map { _ in candidate(random.uniform(0, 2000), random.uniform(0, 2000)) }
    }

    @Test func `a bad column of either image is a line, and scattered candidates are not`() {
        var random = RandomStream(seed: 4, purpose: 4)
        let places = scattered(12)
        // Fixed in the old image, while it slants through the new one.
        let column = (0..<6).map { _ in
            let y = random.uniform(0, 2000)
            return candidate(700 + 0.02 * y, y, brighter: false, shift: 100 - 0.02 * y)
        }
        let lines = DetectorLines(places + column, new: info, old: info).isInLine
        #expect(lines.prefix(12).allSatisfy { !$0 } && lines.suffix(6).allSatisfy { $0 })
        let row = (0..<5).map { candidate(Double($0) * 333 + 17, 801.2) }
        #expect(DetectorLines(places + row, new: info, old: info).isInLine.suffix(5).allSatisfy { $0 })
    }

    @Test func `strong candidates are never part of a line`() {
        let row = (0..<7).map { candidate(Double($0) * 250 + 17, 801.2, 9) }
        #expect(DetectorLines(row, new: info, old: info).isInLine.allSatisfy { !$0 })
    }

    @Test func `three in a row, scattered candidates and mixed signs are not a line`() {
        let three = (0..<3).map { candidate(900, Double($0) * 500) }
        #expect(DetectorLines(three + scattered(10), new: info, old: info).isInLine.allSatisfy { !$0 })
        #expect(DetectorLines(scattered(1500), new: info, old: info).isInLine.count { $0 } < 8)
        let mixed = (0..<6).map { candidate(900, Double($0) * 300, brighter: $0 % 2 == 0) }
        #expect(DetectorLines(mixed, new: info, old: info).isInLine.allSatisfy { !$0 })
        #expect(DetectorLines([], new: info, old: info).isInLine.isEmpty)
    }
}
