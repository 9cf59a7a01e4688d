import Distributed
package import Sky
package import SkyCore
import Transport

// Until version 0.2.0 each kind of results had a method of the coordinator. Nodes serve these methods to commands of those versions, and
// commands call them where a node of those versions answers. This file goes, with `ResultsPage.ask`, when 0.2.0 is not supported any
// more: on 1 December 2027.

/// Asks for a part of the catalogue.
package struct CatalogueRequest: Codable, Sendable {
    package var job: JobID
    /// The index of the first source that is wanted.
    package var from: Int

    package init(job: JobID, from: Int) { (self.job, self.from) = (job, from) }
}

/// Asks for a part of what the sectors reported for check images.
package struct CheckPixelsRequest: Codable, Sendable {
    package var job: JobID
    /// The number of the page, from 0.
    package var page: Int

    package init(job: JobID, page: Int) { (self.job, self.page) = (job, page) }
}

/// Asks for some of the results of a comparison.
package struct ComparedRequest: Codable, Sendable {
    package var job: JobID
    /// The number of the first part, from 0.
    package var from: Int

    package init(job: JobID, from: Int) { (self.job, self.from) = (job, from) }
}

/// The methods, for `JobKind.methods`.
enum MethodsOfBefore {
    static let ofScans = [
        Method("catalogue", for: .user) { (coordinator: isolated Coordinator, argument: CatalogueRequest) in
            try await coordinator.catalogue(argument)
        },
        Method("preview", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
            try await coordinator.preview(argument)
        },
        Method("sectorRuns", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
            try await coordinator.sectorRuns(argument)
        },
        Method("background", for: .user) { (coordinator: isolated Coordinator, argument: JobID) in
            try await coordinator.background(argument)
        },
        Method("planes", for: .user) { (coordinator: isolated Coordinator, argument: CheckPixelsRequest) in
            try await coordinator.planes(argument)
        },
    ]
    static let ofComparisons = [
        Method("compared", for: .user) { (coordinator: isolated Coordinator, argument: ComparedRequest) in
            try await coordinator.compared(argument)
        }
    ]
}

extension Coordinator {
    package distributed func catalogue(_ request: CatalogueRequest) async throws -> CataloguePage {
        try await anywhere(CataloguePage.self, request.job, from: request.from)
    }

    package distributed func preview(_ job: JobID) async throws -> ImagePreview? {
        try await anywhere(PicturePage.self, job).preview
    }

    package distributed func sectorRuns(_ job: JobID) async throws -> [SectorRun] {
        try await anywhere(SectorRunsPage.self, job).runs
    }

    package distributed func background(_ job: JobID) async throws -> BackgroundMap? {
        try await anywhere(BackgroundPage.self, job).background
    }

    package distributed func planes(_ request: CheckPixelsRequest) async throws -> CheckPixelsPage {
        try await anywhere(CheckPixelsPage.self, request.job, from: request.page)
    }

    package distributed func compared(_ request: ComparedRequest) async throws -> ComparedPage {
        try await anywhere(ComparedPage.self, request.job, from: request.from)
    }

    /// A page of a job, whichever node has the job.
    private func anywhere<Page: ResultsPage>(
        _ type: Page.Type, _ job: JobID, from: Int = 0
    ) async throws -> Page {
        if let other = try await elsewhere(job) {
            return try await forward(job) { try await other.page(type, of: job, from: from) }
        }
        return try Page(from: from, of: try await ended(job))
    }
}

extension CataloguePage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> CataloguePage? {
        try await coordinator.catalogue(CatalogueRequest(job: job, from: from))
    }
}

extension PicturePage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> PicturePage? {
        PicturePage(preview: try await coordinator.preview(job))
    }
}

extension SectorRunsPage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> SectorRunsPage? {
        SectorRunsPage(runs: try await coordinator.sectorRuns(job))
    }
}

extension BackgroundPage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> BackgroundPage? {
        BackgroundPage(background: try await coordinator.background(job))
    }
}

extension CheckPixelsPage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> CheckPixelsPage? {
        try await coordinator.planes(CheckPixelsRequest(job: job, page: from))
    }
}

extension ComparedPage {
    package static func ask(_ coordinator: Coordinator, for job: JobID, from: Int) async throws -> ComparedPage? {
        try await coordinator.compared(ComparedRequest(job: job, from: from))
    }
}
