/// Where a job stands.
package struct JobStatus: Codable, Sendable {
    package var scheduled: Int
    package var running: Int
    package var completed: Int
    package var failed: Int
    package var retries: Int
    /// Nodes with a part in it, by name.
    package var nodes: [NodeShare]
    package var elapsed: Duration

    package init(
        scheduled: Int, running: Int, completed: Int, failed: Int, retries: Int, nodes: [NodeShare],
        elapsed: Duration
    ) {
        self.scheduled = scheduled
        self.running = running
        self.completed = completed
        self.failed = failed
        self.retries = retries
        self.nodes = nodes
        self.elapsed = elapsed
    }
}

/// Asks for what happened since.
package struct EventsRequest: Codable, Sendable {
    package var job: JobID
    /// Number of the first event wanted.
    package var from: Int

    package init(job: JobID, from: Int) {
        self.job = job
        self.from = from
    }
}

/// The answer: events, perhaps none, and where the job stands.
package struct EventBatch: Codable, Sendable {
    package var events: [JobEvent]
    /// Number to ask from next.
    package var next: Int
    package var status: JobStatus
}

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
    package var sources: [Source]
    /// Sources of the whole catalogue.
    package var total: Int
    /// Sources cut by the rim of what their sector saw, over the whole image.
    package var truncated: Int
}

extension Catalogue {
    /// A catalogue put together from its pages.
    package init(info: ImageInfo, sources: [Source], truncated: Int) {
        self.init(merging: [], info: info)
        self.sources = sources
        truncatedSources = truncated
    }
}
