import Base
import Testing

@testable import Sky

@Suite struct NearestMeshesTests {
    /// By looking at every mesh.
    private func nearest(to place: Int, columns: Int, good: [Bool]) -> [Int] {
        let distances = good.indices.filter { good[$0] }.map { other in
            let (dx, dy) = (other % columns - place % columns, other / columns - place / columns)
            return (distance: dx * dx + dy * dy, place: other)
        }
        let best = distances.map(\.distance).min()
        return distances.filter { $0.distance == best }.map(\.place)
    }

    @Test(arguments: [0.01, 0.1, 0.5]) func `the same meshes are found as by looking at all of them`(share: Double) {
        var random = SplitMix64(seed: UInt64(share * 1000))
        for (columns, rows) in [(1, 40), (40, 1), (23, 17), (7, 30)] {
            var good = (0..<columns * rows).map { _ in Double.random(in: 0..<1, using: &random) < share }
            good[Int.random(in: good.indices, using: &random)] = true
            let meshes = NearestMeshes(columns: columns, rows: rows) { good[$0] }
            for place in good.indices where !good[place] {
                #expect(meshes.nearest(to: place) == nearest(to: place, columns: columns, good: good))
            }
        }
    }

    @Test func `without a good mesh there is no nearest one`() {
        #expect(NearestMeshes(columns: 3, rows: 2) { _ in false }.nearest(to: 4).isEmpty)
    }
}
