/// The data that the sectors of an image returned for check images.
package struct ScannedPlanes: Sendable {
    package var parts: [SectorPlanes] = []
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
