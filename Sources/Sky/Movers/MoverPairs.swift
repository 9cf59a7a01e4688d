/// Joins sources that vanished from the reference with sources that appeared in one other image, if there are only these two
/// images. It uses flux and distance, without a track as proof.
struct MoverPairs {
    struct Pair: Hashable {
        var old: Int
        var new: Int
    }

    private(set) var pairs: [Pair] = []

    /// The largest number of detections of each image that are used, the strongest first.
    private static let most = 2000

    /// - Parameters:
    ///   - reach: The largest distance in units of the frame.
    ///   - scale: The number of units of the frame in a pixel.
    init(_ sets: DetectionSets, epoch: Int, reach: Double, scale: Double) {
        guard sets.epochs.indices.contains(epoch), reach > 0 else { return }
        let (olds, news) = (sets.epochs[0], sets.epochs[epoch])
        func strongest(_ list: [MoverDetection]) -> [Int] {
            MoverDetection.strongest(list, most: Self.most).filter { list[$0].isStrong }
        }
        var index = NeighbourIndex(cell: reach)
        for number in strongest(news) { index.add(number, (news[number].x, news[number].y)) }
        var all: [(pair: Pair, cost: Double)] = []
        for old in strongest(olds) where sets.rows[0][old][epoch - 1] != nil {
            let a = olds[old]
            for new in index.near((a.x, a.y)) {
                let b = news[new]
                let way = ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot()
                guard way <= reach, way > 3 * scale, a.agrees(with: b) else { continue }
                let error = a.fluxError * a.fluxError + b.fluxError * b.fluxError + 0.0025 * a.flux * a.flux
                let cost = (a.flux - b.flux) * (a.flux - b.flux) / error + 4 * way * way / (reach * reach)
                all.append((Pair(old: old, new: new), cost))
            }
        }
        var used: (old: Set<Int>, new: Set<Int>) = ([], [])
        for (pair, _) in all.sorted(by: { ($0.cost, $0.pair.old, $0.pair.new) < ($1.cost, $1.pair.old, $1.pair.new) })
        where !used.old.contains(pair.old) && !used.new.contains(pair.new) {
            used.old.insert(pair.old)
            used.new.insert(pair.new)
            pairs.append(pair)
        }
    }
}
