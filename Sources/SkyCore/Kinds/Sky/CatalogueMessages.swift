package import Sky

/// Asks for a part of the catalogue.
package struct CatalogueRequest: Codable, Sendable {
    package var job: JobID
    /// Index of the first source wanted.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// A part of the catalogue.
package struct CataloguePage: Codable, Sendable {
    package var info: ImageInfo
    /// Sources from the index asked for.
    @PackedRecords package var sources: [Source]
    /// Sources of the whole catalogue.
    package var total: Int
    /// Sources cut by the rim of what their sector saw, over the whole image.
    package var truncated: Int
    /// What they were found with.
    package var filter: DetectionFilter
    /// All artificial stars, in the first part.
    package var injected: [InjectedStar]?
}

/// Asks for a part of what sectors told for check images.
package struct PlanesRequest: Codable, Sendable {
    package var job: JobID
    /// From 0.
    package var page: Int

    package init(job: JobID, page: Int) {
        self.job = job
        self.page = page
    }
}
