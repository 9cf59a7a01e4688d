import Base
import NIOPosix
import Sky
import SkyCore

/// Writes the results of one image. All files are first written beside their places and then renamed, so that none is ever
/// half-written, and either all are there or none.
struct ScanFiles: Sendable {
    /// Folder and name of the files that are written, without an ending.
    let stem: String
    let formats: [CatalogueFormat]
    let configuration: ScanConfiguration
    let catalogue: Catalogue
    let section: CatalogueTable.Section
    /// Where the time of the scan went, for the report; `nil` where that is not known.
    var times: ScanTimes?
    /// The check images, where any are requested.
    var checkImages: CheckImageFiles?
    /// Whether files that the program has not made are replaced.
    var overwrites = false

    /// What was written, and how long it took.
    struct Written: Sendable {
        var paths: [String]
        var catalogues: Duration
        /// `nil` where no pictures and no report were written.
        var pictures: Duration?
        var checkImages = Duration.zero
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
        section.arithmetic = catalogue.arithmetic
        self.section = section
    }

    /// Writes all files. Each catalogue and the pictures are made at the same time, on threads that may block.
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
        let files = StagedFiles(overwrites: overwrites)
        do {
            return try await write(files, preview, runs, facts, others)
        } catch {
            files.discard()
            throw error
        }
    }

    private func write(
        _ files: StagedFiles, _ preview: ImagePreview?, _ runs: [SectorRun], _ facts: [(name: String, value: String)],
        _ others: [(name: String, ending: String)]
    ) async throws -> Written {
        async let tables = ScanFiles.timed { try await writeTables(files) }
        async let pictures =
            preview == nil
            ? nil
            : ScanFiles.timed {
                if let preview { try await writePictures(preview, runs, facts, others, files) } else { [] }
            }
        // Where both cannot be written, the catalogue is named.
        let written = try await tables
        let made = try await pictures
        let checked = try await writeCheckImages(files)
        // They are forced to the disk together, and wait for it at the same time.
        let start = ContinuousClock.now
        try await NIOThreadPool.singleton.runIfActive { try files.place() }
        let placing = start.duration(to: .now)
        return Written(
            paths: written.paths + (made?.paths ?? []) + checked.paths, catalogues: written.duration + placing,
            pictures: made.map { $0.duration + placing }, checkImages: checked.duration)
    }

    private static func timed(
        _ body: () async throws -> [String]
    ) async rethrows -> (paths: [String], duration: Duration) {
        let start = ContinuousClock.now
        let paths = try await body()
        return (paths, start.duration(to: .now))
    }

    private var table: CatalogueTable { CatalogueTable([section], configuration: configuration) }

    /// - Throws: `SkyError` of the first of the formats that cannot be written.
    private func writeTables(_ files: StagedFiles) async throws -> [String] {
        let table = table
        // The text of a crowded field's catalogue takes several times as long as the others.
        let ended = await withTaskGroup(of: (Int, Result<String, any Error>).self) { group in
            for (number, format) in formats.enumerated() {
                group.addTask {
                    do {
                        return (number, .success(try await write(format, table, files)))
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return try formats.indices.compactMap { try ended[$0]?.get() }
    }

    private func write(_ format: CatalogueFormat, _ table: CatalogueTable, _ files: StagedFiles) async throws -> String
    {
        let path = stem + format.ending
        try await NIOThreadPool.singleton.runIfActive { try table.write(format, to: path, among: files) }
        return path
    }

    /// This takes seconds for a large image.
    private func writeCheckImages(_ files: StagedFiles) async throws -> (paths: [String], duration: Duration) {
        guard let checkImages else { return ([], .zero) }
        return try await ScanFiles.timed {
            try await NIOThreadPool.singleton.runIfActive {
                try checkImages.write(stem: stem, catalogue: catalogue, configuration: configuration, among: files)
            }
        }
    }

    /// Writes the image with the sources, the map of its sectors, and the report, which has both in it.
    private func writePictures(
        _ preview: ImagePreview, _ runs: [SectorRun], _ facts: [(name: String, value: String)],
        _ others: [(name: String, ending: String)], _ files: StagedFiles
    ) async throws -> [String] {
        let grid = try SectorGrid(info: catalogue.info, configuration: configuration)
        let sectors = grid.sectors
        async let drawn = NIOThreadPool.singleton.runIfActive {
            let picture = try Picture(preview, sources: catalogue.sources, sectors: sectors.count > 1 ? sectors : [])
                .jpeg()
            return (picture, try files.write(picture, as: .picture, of: stem))
        }
        async let drawnMap = NIOThreadPool.singleton.runIfActive {
            let map = try SectorMap(grid, runs: runs).png()
            return (map, try files.write(map, as: .sectorMap, of: stem))
        }
        let ((picture, picturePath), (map, mapPath)) = (try await drawn, try await drawnMap)
        let pagePath = try await NIOThreadPool.singleton.runIfActive {
            let name = stem.split(separator: "/").last.map(String.init) ?? stem
            var report = ScanReport(
                catalogue, table: table, runs: runs, facts: facts, others: others.map { ($0.name, name + $0.ending) })
            report.times = times
            return try files.write(report.html(picture: picture, map: map), as: .page, of: stem)
        }
        return [picturePath, mapPath, pagePath]
    }
}
