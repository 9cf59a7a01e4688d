/// A point source seen in one image and not in another, in the form that the search for moving sources needs.
package struct MoverDetection: Hashable, Sendable {
    /// The place in the reference frame's units; below, its error along one axis.
    package var x: Double
    package var y: Double
    package var error: Double
    /// The flux in the reference image's units; below, its error.
    package var flux: Double
    var fluxError: Double
    /// The strength; the strongest detections come first.
    package var significance: Double
    /// Whether the detection counts by itself; a weak one only completes a track.
    var isStrong: Bool

    /// The indices of the detections that have a place, the strongest first; equal ones are in the order of their places.
    static func strongest(_ list: [MoverDetection], most: Int) -> [Int] {
        let usable = list.indices.filter { list[$0].x.isFinite && list[$0].y.isFinite && list[$0].flux.isFinite }
        func key(_ index: Int) -> (Double, Double, Double) {
            (-list[index].significance, list[index].y, list[index].x)
        }
        return Array(usable.sorted { key($0) < key($1) }.prefix(most))
    }

    /// Whether two may be the same source: the fluxes agree to four times the error, and each to a fifth of the mean, because a
    /// source may rotate or tumble.
    func agrees(with other: MoverDetection) -> Bool {
        let mean = (abs(flux) + abs(other.flux)) / 2
        let allowed = fluxError * fluxError + other.fluxError * other.fluxError + 0.01 * mean * mean
        return (flux - other.flux) * (flux - other.flux) < 16 * allowed
    }
}
