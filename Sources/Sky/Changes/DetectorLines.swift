import Glibc

/// Finds weak differences that lie in one column or row of a detector: bad columns, trails of charge. The sky itself has no
/// columns.
struct DetectorLines {
    /// Whether each candidate is part of such a line.
    let isInLine: [Bool]

    /// The distance from a candidate's column within which others count, in pixels.
    private static let reach = 1.5
    /// Fewer others than this are not a line, even if there are very few elsewhere.
    private static let fewest = 3
    /// A stronger difference shows its nature by itself.
    private static let strongest = 8.0
    /// The number of lines that chance may make in an image.
    private static let chance = 0.001

    /// - Parameters:
    ///   - candidates: The candidates of a whole image.
    ///   - new: The size of the image; `old` is that of the reference.
    init(_ candidates: [DifferenceCandidate], new: ImageInfo, old: ImageInfo) {
        var isInLine = [Bool](repeating: false, count: candidates.count)
        let axes: [(place: KeyPath<DifferenceCandidate, Double>, size: Int)] = [
            (\.x, new.width), (\.y, new.height), (\.xOld, old.width), (\.yOld, old.height),
        ]
        // Brighter and fainter differences have different causes.
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

    /// The largest number of others beside a candidate that chance explains, if `count` candidates lie anywhere along `size`
    /// pixels. It follows from the tail of Poisson's distribution, for each of them.
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
