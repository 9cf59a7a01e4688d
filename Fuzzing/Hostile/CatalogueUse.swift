@testable import SkyCore

/// What becomes of a catalogue that came from nodes.
enum CatalogueUse {
    static func write(_ catalogue: Catalogue, configuration: ScanConfiguration, path: String) {
        let section = CatalogueTable.Section(
            image: path, digest: catalogue.info.content?.hexadecimal, header: catalogue.info.header ?? [],
            filter: catalogue.filter, sources: catalogue.sources)
        let table = CatalogueTable([section], configuration: configuration)
        var bytes = table.csv().count + table.ecsv().count
        bytes += table.ndjson().count + table.votable().count + table.regions().count
        require(bytes > 0, "a catalogue has a head at least")
        _ = MagnitudeHistogram(table)?.svg.utf8.count
        let grid = try? SectorGrid(info: catalogue.info, configuration: configuration)
        require(grid.map { $0.sectors.count <= SectorGrid.sectorLimit } ?? true, "a bounded number of sectors")
    }
}
