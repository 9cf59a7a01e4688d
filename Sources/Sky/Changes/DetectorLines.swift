import Glibc

/// Weak differences that lie in one column or row of a detector: bad columns, trails of charge. The sky knows nothing of columns.
struct DetectorLines {
    /// Whether each candidate is one of such a line.
    let isInLine: [Bool]

    /// How far from a candidate's column others count, in pixels.
    private static let reach = 1.5
    /// Fewer than so many others are no line, however few there are elsewhere.
    private static let fewest = 3
    /// What is stronger shows by itself what it is.
    private static let strongest = 8.0
    /// Lines that chance may make in an image.
    private static let chance = 0.001

    /// - Parameters:
    ///   - candidates: of a whole image.
    ///   - new: the size of the image, `old` of the reference.
    init(_ candidates: [DifferenceCandidate], new: ImageInfo, old: ImageInfo) {
        var isInLine = [Bool](repeating: false, count: candidates.count)
        let axes: [(place: KeyPath<DifferenceCandidate, Double>, size: Int)] = [
            (\.x, new.width), (\.y, new.height), (\.xOld, old.width), (\.yOld, old.height),
        ]
        // What is brighter and what is fainter has different causes.
        for isBrighter in [true, false] {
            let own = candidates.indices.filter { index in
                let significance = candidates[index].significance
                return (significance > 0) == isBrighter && abs(significance) < Self.strongest
            }
            guard own.count > Self.fewest else { continue }
            for (place, size) in axes {
                let most = Self.most(of: own.count, size: size)
                let sorted = own.sorted { candidates[$0][keyPath: place] < candidates[$1][keyPath: place] }
                let places = sorted.map { candidates[$0][keyPath: place] }
                var (first, end) = (0, 0)
                for index in sorted.indices {
                    while places[first] < places[index] - Self.reach { first += 1 }
                    while end < places.count, places[end] <= places[index] + Self.reach { end += 1 }
                    if end - first - 1 > most { isInLine[sorted[index]] = true }
                }
            }
        }
        self.isInLine = isInLine
    }

    /// The most others beside a candidate that chance explains, where `count` lie anywhere along `size` pixels: the tail of Poisson's
    /// distribution, for each of them.
    private static func most(of count: Int, size: Int) -> Int {
        let expected = Double(count - 1) * 2 * reach / Double(max(size, 1))
        var (number, term) = (0, exp(-expected))
        var tail = 1 - term
        while number < count, tail * Double(count) > chance {
            number += 1
            term *= expected / Double(number)
            tail -= term
        }
        return max(number, fewest - 1)
    }
}
