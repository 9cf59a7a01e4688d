package import Sky
package import SkyCore

/// Asks for a part of the catalogue.
package struct CatalogueRequest: Codable, Sendable {
    package var job: JobID
    /// The index of the first source that is wanted.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// A part of the catalogue.
package struct CataloguePage: Codable, Sendable {
    package var info: ImageInfo
    /// The sources from the requested index on.
    @PackedRecords package var sources: [Source]
    /// The number of sources in the whole catalogue.
    package var total: Int
    /// The number of sources that are cut by the rim of what their sector saw, in the whole image.
    package var truncated: Int
    /// The arithmetic of the program that measured them; `nil` from a coordinator of an earlier version.
    package var arithmetic: String?
    /// The filter that the sources were found with.
    package var filter: DetectionFilter
    /// All artificial stars; they come in the first part only.
    package var injected: [InjectedStar]?
    /// How long the coordinator took to read the sectors' results and to merge them; `nil` in later parts, and from a coordinator
    /// of an earlier version.
    package var merge: Duration?
}

/// Asks for a part of what the sectors reported for check images.
package struct CheckPixelsRequest: Codable, Sendable {
    package var job: JobID
    /// The number of the page, from 0.
    package var page: Int

    package init(job: JobID, page: Int) {
        self.job = job
        self.page = page
    }
}
