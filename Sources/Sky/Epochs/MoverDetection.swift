/// A point source seen in one image and not in another, as the search for moving sources sees it.
package struct MoverDetection: Hashable, Sendable {
    /// Place in the reference frame's units, and its error along one axis.
    package var x: Double
    package var y: Double
    package var error: Double
    /// Flux in the reference image's units, and its error.
    package var flux: Double
    var fluxError: Double
    /// Strength, by which the strongest are preferred.
    package var significance: Double
    /// Whether it counts by itself; a weak one only completes a track.
    var isStrong: Bool

    /// Places in a list of those that have a place, the strongest first, equals by place.
    static func strongest(_ list: [MoverDetection], most: Int) -> [Int] {
        let usable = list.indices.filter { list[$0].x.isFinite && list[$0].y.isFinite && list[$0].flux.isFinite }
        func key(_ index: Int) -> (Double, Double, Double) {
            (-list[index].significance, list[index].y, list[index].x)
        }
        return Array(usable.sorted { key($0) < key($1) }.prefix(most))
    }

    /// Whether two may be the same source: fluxes agree to four errors and a fifth, for what turns and tumbles.
    func agrees(with other: MoverDetection) -> Bool {
        let mean = (abs(flux) + abs(other.flux)) / 2
        let allowed = fluxError * fluxError + other.fluxError * other.fluxError + 0.01 * mean * mean
        return (flux - other.flux) * (flux - other.flux) < 16 * allowed
    }
}
