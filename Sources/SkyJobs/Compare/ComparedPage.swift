package import Sky
package import SkyCore

/// Some of the results of a comparison.
package struct ComparedPage: ResultsPage {
    package static var name: String { "compared" }

    package var parts: [ComparedPart]
    /// The number of parts of all pages.
    package var total: Int

    /// Each part has some 200 kB at most, apart from pixels.
    private static let length = 32
    private static let bytes = 16 << 20

    package init(from: Int, of job: EndedJob) {
        let all = (job.results as? ComparedParts)?.parts ?? []
        let start = min(max(0, from), all.count)
        var (end, bytes) = (start, 0)
        while end < all.count, end == start || (end - start < ComparedPage.length && bytes < ComparedPage.bytes) {
            if case .difference(let result) = all[end] { bytes += result.planes?.byteCount ?? 0 }
            end += 1
        }
        (parts, total) = (Array(all[start..<end]), all.count)
    }
}
