package import Sky
package import SkyCore

/// Asks for some of the results of a comparison.
package struct ComparedRequest: Codable, Sendable {
    package var job: JobID
    /// The number of the first part, from 0.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// Some of the results of a comparison.
package struct ComparedPage: Codable, Sendable {
    package var parts: [ComparedPart]
    /// The number of parts of all pages.
    package var total: Int
}
