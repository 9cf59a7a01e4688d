@testable import Sky
@testable import SkyCore

/// What becomes of a catalogue that came from nodes.
enum CatalogueUse {
    /// - Parameter format: the format that is written; `nil` for all.
    static func write(
        _ catalogue: Catalogue, configuration: ScanConfiguration, path: String, format: UInt8? = nil
    ) {
        let section = CatalogueTable.Section(
            image: path, digest: catalogue.info.content?.hexadecimal, header: catalogue.info.header ?? [],
            filter: catalogue.filter, sources: catalogue.sources)
        let table = CatalogueTable([section], configuration: configuration)
        let formats = [
            { table.csv() }, { table.ecsv() }, { table.ndjson() }, { table.votable() }, { table.regions() },
        ]
        for (number, bytes) in formats.enumerated() where format.map({ Int($0) % formats.count == number }) ?? true {
            require(!bytes().isEmpty || catalogue.sources.isEmpty, "a catalogue has a head at least")
        }
        _ = MagnitudeHistogram(table)?.svg.utf8.count
        let grid = try? SectorGrid(info: catalogue.info, configuration: configuration)
        require(grid.map { $0.sectors.count <= SectorGrid.sectorLimit } ?? true, "a bounded number of sectors")
    }
}
