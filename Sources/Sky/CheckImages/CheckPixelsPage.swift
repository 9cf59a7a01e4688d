extension ScannedCheckPixels {
    /// The number of runs on a page of footprints, which takes some megabytes. A page has at least one footprint.
    private static let runsOfPage = 1 << 18

    /// The footprints of each page; empty if there are none.
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

    /// One page of the data: the maps first, then one sector on each page, then footprints.
    package func page(_ number: Int) -> CheckPixelsPage {
        let pages = pages
        var page = CheckPixelsPage(total: 1 + parts.count + pages.count)
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

/// One page of the data that sectors returned for check images.
package struct CheckPixelsPage: Codable, Sendable {
    /// The number of pages.
    package var total: Int
    package var background: BackgroundMap?
    /// The map of the noise, in the form of a map of levels.
    package var noise: BackgroundMap?
    package var part: SectorCheckPixels?
    package var footprints: [LabelledFootprint]?

    init(total: Int) { self.total = total }
}
