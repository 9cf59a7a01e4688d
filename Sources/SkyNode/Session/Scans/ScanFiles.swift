import Base
import NIOPosix
import Sky
import SkyCore

/// Writes the results of one image. Each file is first written beside its place and then renamed, so that none is ever
/// half-written.
struct ScanFiles: Sendable {
    /// Folder and name of the files that are written, without an ending.
    let stem: String
    let formats: [CatalogueFormat]
    let configuration: ScanConfiguration
    let catalogue: Catalogue
    let section: CatalogueTable.Section
    /// Where the time of the scan went, for the report; `nil` where that is not known.
    var times: ScanTimes?

    /// What was written, and how long it took.
    struct Written: Sendable {
        var paths: [String]
        var catalogues: Duration
        /// `nil` where no pictures and no report were written.
        var pictures: Duration?
    }

    /// - Parameter name: the name of the image in the tables.
    init(
        name: String, stem: String, formats: [CatalogueFormat], configuration: ScanConfiguration, catalogue: Catalogue,
        companions: Companions? = nil, detection: DetectionImage? = nil
    ) {
        self.stem = stem
        self.formats = formats
        self.configuration = configuration
        self.catalogue = catalogue
        var section = CatalogueTable.Section(
            image: name, digest: catalogue.info.content?.hexadecimal, header: catalogue.info.header ?? [],
            filter: catalogue.filter, sources: catalogue.sourcesInFrame)
        section.companions = companions?.completed(by: catalogue.info.ownCompanions).files(catalogue.info) ?? []
        if let detection { section.companions.append(detection.file(catalogue.info)) }
        section.plane = catalogue.info.cube.map { _ in catalogue.info.layer?.plane ?? 1 }
        section.layer = catalogue.info.layer
        self.section = section
    }

    /// Writes all files. The catalogues and the pictures are made at the same time, on threads that may block.
    ///
    /// - Parameters:
    ///   - preview: a small picture of the image; `nil` where no pictures and no report are written.
    ///   - runs: which node scanned which sector.
    ///   - facts: facts for the report that are not in the catalogue.
    ///   - others: the subjects and the endings of further files, to which the report links.
    /// - Throws: `SkyError` naming the file and the reason.
    func write(
        preview: ImagePreview?, runs: [SectorRun], facts: [(name: String, value: String)],
        others: [(name: String, ending: String)] = []
    ) async throws -> Written {
        async let tables = ScanFiles.timed { try await NIOThreadPool.singleton.runIfActive { try writeTables() } }
        async let pictures =
            preview == nil
            ? nil
            : ScanFiles.timed {
                if let preview { try await writePictures(preview, runs, facts, others) } else { [] }
            }
        // Where both cannot be written, the catalogue is named.
        let (written, drawn) = (try await tables, try await pictures)
        return Written(
            paths: written.paths + (drawn?.paths ?? []), catalogues: written.duration, pictures: drawn?.duration)
    }

    private static func timed(
        _ body: () async throws -> [String]
    ) async rethrows -> (paths: [String], duration: Duration) {
        let start = ContinuousClock.now
        let paths = try await body()
        return (paths, start.duration(to: .now))
    }

    private var table: CatalogueTable { CatalogueTable([section], configuration: configuration) }

    private func writeTables() throws(SkyError) -> [String] {
        let table = table
        for format in formats { try table.write(format, to: stem + format.ending) }
        return formats.map { stem + $0.ending }
    }

    /// Writes the image with the sources, the map of its sectors, and the report, which has both in it.
    private func writePictures(
        _ preview: ImagePreview, _ runs: [SectorRun], _ facts: [(name: String, value: String)],
        _ others: [(name: String, ending: String)]
    ) async throws -> [String] {
        let grid = try SectorGrid(info: catalogue.info, configuration: configuration)
        let sectors = grid.sectors
        async let drawnMap = NIOThreadPool.singleton.runIfActive { try SectorMap(grid, runs: runs).png() }
        let picture = try await NIOThreadPool.singleton.runIfActive {
            try Picture(preview, sources: catalogue.sources, sectors: sectors.count > 1 ? sectors : []).png()
        }
        let map = try await drawnMap
        async let page: Void = NIOThreadPool.singleton.runIfActive {
            let name = stem.split(separator: "/").last.map(String.init) ?? stem
            var report = ScanReport(
                catalogue, table: table, runs: runs, facts: facts, others: others.map { ($0.name, name + $0.ending) })
            report.times = times
            try AtomicFile.write(report.html(picture: picture, map: map), to: stem + ".html")
        }
        try await NIOThreadPool.singleton.runIfActive {
            try AtomicFile.write(picture, to: stem + ".png")
            try AtomicFile.write(map, to: stem + ".sectors.png")
        }
        try await page
        return [".png", ".sectors.png", ".html"].map { stem + $0 }
    }
}
