/// The data that the sectors of an image returned for check images.
package struct ScannedCheckPixels: Sendable {
    package var parts: [SectorCheckPixels] = []
    /// The footprints, each with the number of its source in the catalogue, from 1.
    package var footprints: [LabelledFootprint] = []
    package var background: BackgroundMap?
    package var noise: BackgroundMap?

    /// About how much memory the data takes.
    package var byteCount: Int {
        parts.reduce(0) { $0 + 4 * (($1.subtracted?.count ?? 0) + ($1.filtered?.count ?? 0)) }
            + footprints.reduce(0) { $0 + 32 + 4 * $1.footprint.runs.count }
    }
}

/// A footprint and the number of its source.
package struct LabelledFootprint: Hashable, Codable, Sendable {
    package var number: Int
    package var footprint: Footprint
}

extension Footprint {
    /// Whether all runs lie in an image, and have together no more pixels than the image.
    package func isSound(in info: ImageInfo) -> Bool {
        guard runs.count % 3 == 0, runs.count / 3 <= info.width * info.height else { return false }
        var rest = info.width * info.height
        return stride(from: 0, to: runs.count, by: 3).allSatisfy { place in
            let (row, column, length) = (Int(runs[place]), Int(runs[place + 1]), Int(runs[place + 2]))
            rest -= length
            return (0..<info.height).contains(row) && (0..<info.width).contains(column)
                && length > 0 && length <= info.width - column && rest >= 0
        }
    }
}
