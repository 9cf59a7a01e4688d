extension ScannedPlanes {
    /// Pages of footprints are of so many runs, some megabytes, at least one footprint each.
    private static let runsOfPage = 1 << 18

    /// Which footprints each page has; none where there are none.
    private var pages: [Range<Int>] {
        var pages: [Range<Int>] = []
        var (start, runs) = (0, 0)
        for (index, footprint) in footprints.enumerated() {
            runs += footprint.footprint.runs.count
            if runs >= Self.runsOfPage || index == footprints.count - 1 {
                pages.append(start..<index + 1)
                (start, runs) = (index + 1, 0)
            }
        }
        return pages
    }

    /// A part of it: the maps first, then one sector at a time, then footprints.
    package func page(_ number: Int) -> PlanesPage {
        let pages = pages
        var page = PlanesPage(total: 1 + parts.count + pages.count)
        if number == 0 {
            (page.background, page.noise) = (background, noise)
        } else if parts.indices.contains(number - 1) {
            page.part = parts[number - 1]
        } else if pages.indices.contains(number - 1 - parts.count) {
            page.footprints = Array(footprints[pages[number - 1 - parts.count]])
        }
        return page
    }
}

/// A part of what sectors told for check images.
package struct PlanesPage: Codable, Sendable {
    /// How many there are.
    package var total: Int
    package var background: BackgroundMap?
    /// The map of the noise, as if it were a level.
    package var noise: BackgroundMap?
    package var part: SectorPlanes?
    package var footprints: [LabelledFootprint]?

    init(total: Int) { self.total = total }
}
