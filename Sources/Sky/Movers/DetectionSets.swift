/// The sources of every image of a series that another image does not have, all in the reference's coordinates and flux.
struct DetectionSets {
    /// The sources that vanished from the reference, then those that appeared in each comparison's image.
    var epochs: [[MoverDetection]]
    /// The place where each source is listed: by comparison, the row of its changes, or -1 - row for one that is too faint for
    /// these.
    private(set) var rows: [[[Int: Int]]]

    init(_ comparisons: [EpochComparison], reference: ReferenceFrame) {
        epochs = Array(repeating: [], count: comparisons.count + 1)
        rows = Array(repeating: [], count: comparisons.count + 1)
        var gone: [(detection: MoverDetection, comparison: Int, row: Int)] = []
        for (number, comparison) in comparisons.enumerated() {
            func add(
                _ place: (x: Double, y: Double), _ candidate: (flux: Double, error: Double), _ position: Double,
                _ significance: Double, _ strong: Bool, _ row: Int
            ) {
                let plane = reference.place(x: place.x, y: place.y)
                let ratio = comparison.ratio > 0 ? comparison.ratio : 1
                let detection = MoverDetection(
                    x: plane.x, y: plane.y, error: position * reference.scale, flux: abs(candidate.flux) / ratio,
                    fluxError: max(candidate.error / ratio, .leastNormalMagnitude), significance: abs(significance),
                    isStrong: strong)
                if significance > 0 {
                    epochs[number + 1].append(detection)
                    rows[number + 1].append([number: row])
                } else {
                    gone.append((detection, number, row))
                }
            }
            for (row, change) in comparison.changes.enumerated() {
                add(
                    (change.xOld, change.yOld), (change.fluxDifference, change.fluxDifferenceError),
                    change.positionError, change.significance, true, row)
            }
            for (row, candidate) in comparison.faint.enumerated() {
                add(
                    (candidate.xOld, candidate.yOld), (candidate.fluxDifference, candidate.fluxDifferenceError),
                    candidate.positionError, candidate.significance, false, -1 - row)
            }
        }
        mergeVanished(gone, radius: 1.5 * reference.scale)
    }

    /// Merges the detections of one source of the reference that vanishes from every later image into one, the strongest.
    private mutating func mergeVanished(
        _ gone: [(detection: MoverDetection, comparison: Int, row: Int)], radius: Double
    ) {
        var index = NeighbourIndex(cell: radius)
        let sorted = gone.sorted {
            (-$0.detection.significance, $0.detection.y, $0.detection.x, $0.comparison)
                < (-$1.detection.significance, $1.detection.y, $1.detection.x, $1.comparison)
        }
        for item in sorted {
            let place = (item.detection.x, item.detection.y)
            let same = index.near(place).first { number in
                let (dx, dy) = (epochs[0][number].x - place.0, epochs[0][number].y - place.1)
                return dx * dx + dy * dy < radius * radius && rows[0][number][item.comparison] == nil
            }
            if let same {
                rows[0][same][item.comparison] = item.row
            } else {
                index.add(epochs[0].count, place)
                epochs[0].append(item.detection)
                rows[0].append([item.comparison: item.row])
            }
        }
    }
}
