package import Sky

/// Asks for a part of what a comparison came to.
package struct ComparedRequest: Codable, Sendable {
    package var job: JobID
    /// The first part, from 0.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// Some parts of a comparison.
package struct ComparedPage: Codable, Sendable {
    package var parts: [ComparedPart]
    /// Of all pages.
    package var total: Int
}
